"""Redirects from old addresses, and the page for unknown addresses."""
