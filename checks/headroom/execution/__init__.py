"""Run snippets, notebooks and benchmarks in isolated processes, and record the results."""
