"""Estimate the GPU memory of training and inference from a model's configuration, without torch.

``estimate`` evaluates recorded polynomials of the model's sizes; ``headroom estimate`` prints the result.
docs/contribute/memory.md explains how the polynomials are made and how to add an architecture.
"""
