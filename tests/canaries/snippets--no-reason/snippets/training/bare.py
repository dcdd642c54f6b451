# /// script
# dependencies = []
# ///
"""A snippet that proves nothing."""
