"""Trace the memory of a real training step or forward pass on a machine without a GPU.

The model, the loss and the optimizer of the libraries run under fake tensors, which have shapes and no data. A few
substitutions give the saved tensors of CUDA's kernels where those of a CPU differ. This package imports torch.
"""
