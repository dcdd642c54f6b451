"""Plan a training run: the step time and the memory of each layout over a cluster's GPUs."""
