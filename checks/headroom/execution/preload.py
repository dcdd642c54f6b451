"""Import the modules that snippets and benchmarks need, in the fork server, so that its children start fast.

transformers imports its modules lazily, so each name used is imported here explicitly. ``benchmark_run`` is included
so that no run has to read and compile it again.
"""

import datasets
import torch._inductor.compile_fx
import transformers.models.gpt2.modeling_gpt2
import transformers.models.llama.modeling_llama
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments, pipeline

from headroom.execution import benchmark_run, rank_processes

__all__ = [
    "AutoModelForCausalLM",
    "AutoTokenizer",
    "Trainer",
    "TrainingArguments",
    "benchmark_run",
    "datasets",
    "pipeline",
    "rank_processes",
    "torch",
    "transformers",
]
