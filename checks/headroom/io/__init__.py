"""Reading strangers' files safely, writing without loss, and asking git."""
