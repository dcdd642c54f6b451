"""What is true because it ran: processes of their own, the local hub, snippets, and measuring."""
