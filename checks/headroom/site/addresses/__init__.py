"""What stands at an address that a page once had, and at one that never was."""
