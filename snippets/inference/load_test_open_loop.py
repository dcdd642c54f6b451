# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy>=2.0", "torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "fastapi>=0.115", "uvicorn>=0.30", "openai>=1.98"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 240
# ablation = { "visits.append(pool.submit(visit, due))" = "visits.append(pool.submit(visit, due)); visits[-1].result()" }
# ///
"""An open-loop load test of `transformers serve` on a CPU: Poisson arrivals that wait for no answer, times from the schedule, and goodput, the requests that meet targets for TTFT and for the longest gap between tokens."""

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

import numpy as np

checkpoint = "HuggingFaceTB/SmolLM2-135M"
with create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
program = str(Path(sys.executable).with_name("transformers"))
command = [program, "serve", checkpoint, "--port", str(port), "--host", "127.0.0.1"]
command += ["--device", "cpu", "--dtype", "float32", "--continuous-batching"]
command += ["--cb-num-blocks", "64", "--cb-max-batch-tokens", "256"]
server = subprocess.Popen(  # noqa: S603 - the installed program
    command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
)
atexit.register(server.kill)
TOKENS = 32


def healthy() -> bool:
    try:
        with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
    except OSError:
        return False


# --8<-- [start:visit]
def visit(due: float) -> dict:
    """Send a request now, and return its times in seconds since the test began."""
    sent = time.perf_counter() - begin
    body = {"model": checkpoint, "prompt": "The licence", "stream": True}
    headers = {"Content-Type": "application/json"}
    body = json.dumps(body | {"max_tokens": TOKENS})
    with closing(HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
        connection.request("POST", "/v1/completions", body, headers)
        tokens = [
            time.perf_counter() - begin
            for line in connection.getresponse()
            if line.startswith(b"data: {")
        ]
    longest = max(later - earlier for earlier, later in pairwise(tokens))
    ttft = tokens[0] - due  # from the schedule, not from `sent`
    return {
        "due": due,
        "sent": sent,
        "first": tokens[0],
        "ttft": ttft,
        "gap": longest,
        "end": tokens[-1],
    }


# --8<-- [end:visit]
while not healthy():
    assert server.poll() is None, "the server ended before it was ready"
    time.sleep(0.2)
begin = time.perf_counter()
visit(0.0)  # warm up

slept = patch("time.sleep", wraps=time.sleep).start()
# --8<-- [start:open-loop]
draw = np.random.default_rng(0)
gaps = draw.exponential(1 / 100, size=24)  # a mean of 100 requests per second
schedule = np.cumsum(gaps).tolist()

visits, begin = [], time.perf_counter()
with ThreadPoolExecutor(len(schedule)) as pool:
    for due in schedule:
        time.sleep(max(0, begin + due - time.perf_counter()))
        visits.append(pool.submit(visit, due))
results = [each.result() for each in visits]
# --8<-- [end:open-loop]
patch.stopall()
server.terminate()
server.wait(timeout=30)


# --8<-- [start:goodput]
def goodput(results: list[dict], ttft: float, gap: float) -> float:
    """Return the requests per second that meet both targets."""
    good = sum(each["ttft"] <= ttft and each["gap"] <= gap for each in results)
    return good / max(each["end"] for each in results)


# --8<-- [end:goodput]
def at_share(values, share: float) -> float:
    return sorted(values)[int(share * len(results))]


ttfts = [each["ttft"] for each in results]
everything = goodput(results, ttft=float("inf"), gap=float("inf"))
target = at_share(ttfts, 0.5)
print(f"{len(results)} requests of {TOKENS} tokens, {everything:.1f} requests/s")
print(f"TTFT p50 {target * 1e3:.0f} ms, p90 {at_share(ttfts, 0.9) * 1e3:.0f} ms")
print(
    f"longest gap p90 {at_share([each['gap'] for each in results], 0.9) * 1e3:.0f} ms"
)
met = goodput(results, ttft=target, gap=float("inf"))
print(f"{met:.1f} requests/s have a TTFT of at most {target * 1e3:.0f} ms")

# The proof: requests were sent while others ran, each at its time or after it, and all were answered.
running = max(
    sum(other["sent"] < each["sent"] < other["end"] for other in results)
    for each in results
)
assert running >= 2, f"{running} others in flight"
assert len(results) == 24
assert any(call.args[0] > 0 for call in slept.call_args_list), "not on the schedule"
assert pool._max_workers >= 24, "an answer is waited for"  # noqa: SLF001
for due, each in zip(schedule, results, strict=True):
    assert each["due"] == due <= each["sent"], each
    assert abs(each["ttft"] - (each["first"] - due)) < 1e-9, "not from the schedule"
    assert each["gap"] >= (each["end"] - each["first"]) / TOKENS, "no longest gap"
assert 70 < len(schedule) / schedule[-1] < 140, "not 100 requests per second"
assert max(gaps) > 5 * min(gaps), "arrivals at even distances"
# Goodput counts whole requests: none for a target of zero, all without a target, and fewer with one.
assert goodput(results, ttft=0.0, gap=0.0) == 0
assert goodput(results, ttft=float("inf"), gap=0.0) == 0
assert abs(everything - 24 / max(each["end"] for each in results)) < 1e-9
assert 0 < met < everything
# A visit on a simulated clock: due at 1, sent at 2, tokens at 5, 6, 16 and 17, then the end of the stream.
answer = [b"data: {}", b"data: {}", b"", b"data: {}", b"data: {}", b"data: [DONE]"]
with (
    patch.object(HTTPConnection, "request") as request,
    patch.object(HTTPConnection, "getresponse", return_value=answer),
    patch("time.perf_counter", side_effect=[2, 5, 6, 16, 17]),
):
    begin = 0
    simulated = visit(1)
times = {"due": 1, "sent": 2, "first": 5, "ttft": 4, "gap": 10, "end": 17}
assert simulated == times, simulated
asked = json.loads(request.call_args.args[2])
expected = {"model": checkpoint, "prompt": "The licence", "stream": True}
assert asked == expected | {"max_tokens": TOKENS}, asked
