"""Estimate the tokens of KV cache and the concurrency that vLLM reports when it starts."""
