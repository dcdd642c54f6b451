"""Run the tests of offload_on_a_cpu.py in a child, so that this process imports no torch."""

import subprocess
import sys
from pathlib import Path

CASES = Path(__file__).with_name("offload_on_a_cpu.py")


def test_statements_about_optimizer_offload_hold() -> None:
    """Each test of the file passes; none is skipped."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CASES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert f"{CASES.read_text('utf-8').count('def test_')} passed" in done.stdout
