# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "fastapi>=0.115", "uvicorn>=0.30", "openai>=1.98"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 240
# ablation = { '"stream": True' = '"stream": False' }
# ///
"""Start `transformers serve` with continuous batching on a CPU and ask it: the stream has an event per token, and the text of generate() for each of several requests at a time."""

import atexit
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from itertools import pairwise
from pathlib import Path
from socket import create_server
from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
with create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
program = str(Path(sys.executable).with_name("transformers"))

# --8<-- [start:start]
command = [program, "serve", checkpoint, "--port", str(port), "--host", "127.0.0.1"]
command += ["--device", "cpu", "--dtype", "float32", "--continuous-batching"]
command += ["--cb-num-blocks", "64", "--cb-max-batch-tokens", "256"]
with Path("server.log").open("w") as log:
    server = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603 - installed
atexit.register(server.kill)


def healthy() -> bool:
    try:
        with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
    except OSError:
        return False


while not healthy():
    assert server.poll() is None, "the server ended before it was ready"
    time.sleep(0.2)
# --8<-- [end:start]


# --8<-- [start:ask]
def ask(prompt: str, tokens: int) -> tuple[str, list[float]]:
    """Return the answer and the time at which each event arrived."""
    body = {
        "model": checkpoint,
        "prompt": prompt,
        "max_tokens": tokens,
        "stream": True,
    }
    headers = {"Content-Type": "application/json"}
    text, times = "", []
    with closing(HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
        connection.request("POST", "/v1/completions", json.dumps(body), headers)
        for line in connection.getresponse():
            if line.startswith(b"data: {"):
                times.append(time.perf_counter())
                text += json.loads(line[6:])["choices"][0]["text"]
    return text, times


# --8<-- [end:ask]
prompts = [
    "The licence",
    "1. Definitions",
    "You may reproduce",
    "Redistribution and use " * 8,
]
try:
    ask("Warm up", 2)
    begin = time.perf_counter()
    with ThreadPoolExecutor(len(prompts)) as pool:
        answers = list(pool.map(lambda prompt: ask(prompt, 16), prompts))
    end = time.perf_counter()
finally:
    server.terminate()
    server.wait(timeout=30)

# The first part of the proof: the server batched continuously; an event per token, and a last one with the reason for the end.
requests = Path("server.log").read_text()
assert requests.count("CB: True") == 1 + len(prompts), "no continuous batching"
for _, times in answers:
    assert len(times) == 17, f"{len(times)} events"
    assert begin < times[0] <= times[-1] < end, times

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:metrics]
for _, times in answers:
    first = times[0] - begin  # time to first token (TTFT)
    gaps = [b - a for a, b in pairwise(times)]
    print(f"TTFT {first * 1e3:.0f} ms, longest gap {max(gaps) * 1e3:.0f} ms")
# --8<-- [end:metrics]
shown = [call.args[0] for call in printed.call_args_list]
longest = [max(b - a for a, b in pairwise(times)) for _, times in answers]
assert shown == [
    f"TTFT {1000 * (times[0] - begin):.0f} ms, longest gap {1000 * gap:.0f} ms"
    for (_, times), gap in zip(answers, longest, strict=True)
], f"printed was {shown}"

# The second part: the text that generate() gives for each prompt alone.
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
wanted = []
for prompt in prompts:
    inputs = tokenizer(prompt, return_tensors="pt")
    alone = model.generate(
        **inputs, max_new_tokens=16, do_sample=False, pad_token_id=0
    )
    wanted.append(tokenizer.decode(alone[0, inputs["input_ids"].shape[1] :]))
assert len(set(wanted)) > 1, "all prompts have the same answer"
for (text, _), text_alone in zip(answers, wanted, strict=True):
    assert text == text_alone
