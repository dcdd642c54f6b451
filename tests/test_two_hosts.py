"""Test torchrun over two hosts: two network namespaces with a virtual Ethernet cable between them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "snippets/training/nodes_check.py"
PAYLOAD = 4 * 2**21  # bytes of the tensor that the script reduces
PORT = "29500"


def _ip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [shutil.which("ip") or "ip", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True)


@pytest.fixture
def hosts() -> Iterator[tuple[str, str]]:
    """Two namespaces with the addresses 10.77.0.1 and 10.77.0.2, or a skip with the reason."""
    names = f"hostA{os.getpid()}", f"hostB{os.getpid()}"
    try:
        for name in names:
            _ip("netns", "add", name)
        _ip("link", "add", "vethA", "netns", names[0], "type", "veth", "peer", "name", "vethB", "netns", names[1])
        for number, (name, device) in enumerate(zip(names, ("vethA", "vethB"), strict=True), 1):
            _ip("-n", name, "addr", "add", f"10.77.0.{number}/24", "dev", device)
            _ip("-n", name, "link", "set", "lo", "up")
            _ip("-n", name, "link", "set", device, "up")
        yield names
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"network namespaces need root and `ip`: {getattr(error, 'stderr', error)}")
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _start(host: str, rank: int, device: str) -> subprocess.Popen[str]:
    """Start torchrun on one host."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--node-rank", str(rank)]
    launch += ["--nproc-per-node", "1", "--master-addr", "10.77.0.1", "--master-port", PORT, str(SCRIPT)]
    return subprocess.Popen(
        ["ip", "netns", "exec", host, *launch],
        env={**os.environ, "GLOO_SOCKET_IFNAME": device, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _sent(host: str, device: str) -> int:
    """Return the bytes that a host has sent through a device."""
    text = _ip("netns", "exec", host, "cat", "/proc/net/dev").stdout
    row = next(line for line in text.splitlines() if line.strip().startswith(f"{device}:"))
    return int(row.partition(":")[2].split()[8])


@pytest.mark.slow
def test_all_reduce_crosses_the_cable_between_two_hosts(hosts: tuple[str, str]) -> None:
    devices = ("vethA", "vethB")
    before = [_sent(host, device) for host, device in zip(hosts, devices, strict=True)]
    started = [_start(host, rank, device) for rank, (host, device) in enumerate(zip(hosts, devices, strict=True))]
    outputs = [process.communicate(timeout=280)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0], "\n".join(outputs)
    assert "2 ranks, 0 wrong sums" in outputs[0]
    assert "rank 1: node 1, local rank 0" in outputs[0]
    for number, (host, device) in enumerate(zip(hosts, devices, strict=True)):
        sent = _sent(host, device) - before[number]
        assert PAYLOAD <= sent < 1.05 * PAYLOAD, f"{host} sent {sent} bytes for {PAYLOAD}"  # 2 (N-1)/N = 1 at N = 2
        assert _sent(host, "lo") < 0.05 * PAYLOAD, "the tensor went through the loopback device"
