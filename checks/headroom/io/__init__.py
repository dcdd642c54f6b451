"""Read untrusted files safely, write files atomically, and query git."""
