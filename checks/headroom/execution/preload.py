"""What snippets and benchmarks import, resolved: the libraries load lazily what they offer under their own names.

With it comes what runs a benchmark, which every run would read and compile anew.
"""

import datasets
import torch._inductor.compile_fx
import transformers.models.gpt2.modeling_gpt2
import transformers.models.llama.modeling_llama
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments, pipeline

from headroom.execution import benchmark_run

__all__ = [
    "AutoModelForCausalLM",
    "AutoTokenizer",
    "Trainer",
    "TrainingArguments",
    "benchmark_run",
    "datasets",
    "pipeline",
    "torch",
    "transformers",
]
