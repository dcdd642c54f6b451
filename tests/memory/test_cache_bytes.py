"""Compare the predicted bytes of the KV cache with those of transformers, for 20 architectures at real sizes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from headroom.memory.architecture import read_architecture
from headroom.memory.cache import cache_bytes

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# Tokens beyond each sliding window, and within the positions that the model knows.
TOKENS = {
    "command-r": 8192,
    "deepseek-v3": 4096,
    "gemma-2-9b": 8192,
    "gemma-3-1b": 8192,
    "gpt-oss-20b": 4096,
    "gpt2": 1024,
    "granite-3.3-8b": 4096,
    "llama-3.1-8b": 8192,
    "mistral-7b-v0.1": 8192,
    "mixtral-8x7b": 8192,
    "olmo-2-7b": 4096,
    "olmoe-1b-7b": 4096,
    "opt-6.7b": 2048,
    "phi-4": 8192,
    "pythia-6.9b": 2048,
    "qwen2.5-7b": 8192,
    "qwen3-30b-a3b": 8192,
    "qwen3-8b": 8192,
    "smollm3-3b": 8192,
    "starcoder2-7b": 8192,
}


@pytest.mark.slow
def test_cache_has_the_predicted_bytes_in_20_architectures() -> None:
    call = [sys.executable, str(HERE / "real_caches.py"), json.dumps([*TOKENS.items()])]
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    families = set()
    for (name, tokens), real in zip(TOKENS.items(), json.loads(done.stdout), strict=True):
        model = read_architecture(name, ROOT)
        families.add(model.coefficients.family)
        assert cache_bytes(model, {**model.symbols, "B": 1}, tokens) == real, name
    assert len(families) == 20
