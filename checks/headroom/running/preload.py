"""What snippets and benchmarks import, resolved: the libraries load lazily what they offer under their own names."""

import datasets
import torch._inductor.compile_fx
import transformers.models.gpt2.modeling_gpt2
import transformers.models.llama.modeling_llama
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments, pipeline

__all__ = [
    "AutoModelForCausalLM",
    "AutoTokenizer",
    "Trainer",
    "TrainingArguments",
    "datasets",
    "pipeline",
    "torch",
    "transformers",
]
