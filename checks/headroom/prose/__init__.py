"""What the text says: pages, their links and figures, and the code that they embed."""
