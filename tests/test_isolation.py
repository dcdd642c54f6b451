"""Test the fork server: limits, isolation, clean-up and the network block."""

import json
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from headroom.execution import fork_server, network_block
from headroom.execution.isolation import ForkServer, ForkServerError, ProcessOutcome

LIMITS: dict[str, Any] = {"timeout": 30, "memory_limit": 1 << 30}


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with ForkServer({"HEADROOM_TEST": "here"}, preload=("colorsys",)) as server:
        yield server


def run(server: ForkServer, folder: Path, source: str, **limits: Any) -> ProcessOutcome:
    """Run a script in a child of the server, in this folder."""
    script = folder / "script.py"
    script.write_text(source, encoding="utf-8")
    return server.run(runpy.run_path, str(script), **{**LIMITS, **limits}, cwd=folder)


def assert_gone(pid: int) -> None:
    """Assert that the process of this id ends."""
    for _ in range(100):
        if not psutil.pid_exists(pid):
            return
        time.sleep(0.05)
    raise AssertionError(psutil.Process(pid))


def test_child_has_preloaded_modules_own_session_and_own_folder(server: ForkServer, tmp_path: Path) -> None:
    source = """if True:
        import os, sys, tempfile
        assert "colorsys" in sys.modules and "pytest" not in sys.modules and "torch" not in sys.modules
        assert os.getsid(0) == os.getpgid(0) == os.getpid()
        assert os.environ["HEADROOM_TEST"] == "here" and os.environ["HF_HUB_OFFLINE"] == "1"
        assert not sys.stdin.read()
        assert tempfile.gettempdir() == os.getcwd()
        print(os.getcwd()); print("oh", file=sys.stderr)
    """
    outcome = run(server, tmp_path, source)
    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (0, f"{tmp_path.resolve()}\n", "oh\n")
    assert not outcome.timed_out
    assert not outcome.over_memory
    assert outcome.cpu_seconds > 0
    assert outcome.others_cpu is None or 0 <= outcome.others_cpu <= 1
    assert outcome.seconds > 0
    assert 5 << 20 < outcome.peak_memory_bytes < 1 << 30


def test_children_do_not_affect_each_other(server: ForkServer, tmp_path: Path) -> None:
    source = "import builtins, os\nassert not hasattr(builtins, 'mark')\nbuiltins.mark = os.environ['MARK'] = '1'"
    assert [run(server, tmp_path, source).exit_code for _ in range(2)] == [0, 0]


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("raise ValueError", 1),
        ("raise SystemExit(7)", 7),
        ("raise SystemExit('no')", 1),
        ("import os; os._exit(3)", 3),
        ("import os; os.kill(os.getpid(), 11)", -signal.SIGSEGV),
        ("exit()", 0),
    ],
)
def test_exit_code_is_that_of_the_script(server: ForkServer, tmp_path: Path, source: str, code: int) -> None:
    assert run(server, tmp_path, source).exit_code == code


def test_missing_module_fails_the_child_but_not_the_server(
    server: ForkServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_here = types.ModuleType("only_here")
    exec("def work(): pass", only_here.__dict__)  # noqa: S102
    monkeypatch.setitem(sys.modules, "only_here", only_here)
    outcome = server.run(only_here.work, **LIMITS, cwd=tmp_path)
    assert outcome.exit_code == 1
    assert "No module named 'only_here'" in outcome.stderr
    assert run(server, tmp_path, "").exit_code == 0


ENDLESS = """if True:
    import subprocess, sys, time
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    pids = [subprocess.Popen(sleep, start_new_session=own).pid for own in (False, True)]
    open("pids", "w").write(" ".join(map(str, pids)))
"""


def test_timeout_kills_the_child_and_its_descendants(server: ForkServer, tmp_path: Path) -> None:
    outcome = run(server, tmp_path, ENDLESS + "    while True: pass", timeout=1)
    assert outcome.timed_out
    assert outcome.exit_code == -signal.SIGKILL
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    for pid in pids:
        assert_gone(pid)


def test_descendants_that_outlive_the_child_are_killed(server: ForkServer, tmp_path: Path) -> None:
    outcome = run(server, tmp_path, ENDLESS)
    assert (outcome.exit_code, outcome.timed_out) == (0, False)
    for pid in (tmp_path / "pids").read_text().split():
        assert_gone(int(pid))


def test_memory_limit_kills_the_child(server: ForkServer, tmp_path: Path) -> None:
    source = "import time\nhog = []\nwhile True: hog.append(b'x' * (8 << 20)); time.sleep(0.005)"
    outcome = run(server, tmp_path, source, memory_limit=256 << 20)
    assert outcome.over_memory
    assert not outcome.timed_out
    assert outcome.exit_code == -signal.SIGKILL
    assert outcome.peak_memory_bytes > 256 << 20


def test_peak_memory_counts_all_processes_and_shared_pages_once(server: ForkServer, tmp_path: Path) -> None:
    source = """if True:
        import os, time
        block = b"x" * (200 << 20)
        children = []
        for _ in range(2):
            if os.fork() == 0:
                own = b"y" * (100 << 20)
                time.sleep(1)
                os._exit(0)
        time.sleep(1)
        os.wait()
    """
    outcome = run(server, tmp_path, source)
    assert outcome.exit_code == 0
    assert 400 << 20 <= outcome.peak_memory_bytes < 500 << 20


def test_network_is_blocked_and_loopback_works(server: ForkServer, tmp_path: Path) -> None:
    source = """if True:
        import socket
        try:
            socket.create_connection(("192.0.2.1", 80), timeout=20)
        except TimeoutError:
            raise
        except OSError as error:
            print(socket.if_nameindex(), error)
        server = socket.create_server(("127.0.0.1", 0))
        socket.create_connection(server.getsockname(), timeout=20).close()
        print("open")
    """
    outcome = run(server, tmp_path, source)
    sign = {network_block.Kind.NAMESPACE: "[(1, 'lo')] ", network_block.Kind.AUDIT_HOOK: "blocked for snippets"}[
        outcome.network
    ]
    assert sign in outcome.stdout, outcome.stderr
    assert outcome.stdout.endswith("open\n")


def test_audit_hook_blocks_the_network_without_namespaces() -> None:
    source = """if True:
        import socket
        from headroom.execution import network_block
        network_block.close(network_block.Kind.AUDIT_HOOK)
        for reach in (
            lambda: socket.create_connection(("192.0.2.1", 80), timeout=20),
            lambda: socket.getaddrinfo("example.org", 80),
            lambda: socket.gethostbyname("example.org"),
            lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"", ("192.0.2.1", 53)),
        ):
            try:
                reach()
            except OSError as error:
                assert "blocked for snippets" in str(error), error
            else:
                raise SystemExit("reached")
        server = socket.create_server(("localhost", 0))
        socket.create_connection(server.getsockname(), timeout=20).close()
        socket.getaddrinfo(None, 80); socket.getaddrinfo(b"localhost", 80)
        try:
            socket.socket(socket.AF_UNIX).connect("/nowhere")
        except FileNotFoundError:
            pass
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-W", "ignore", "-c", source], env=environment, check=True, timeout=60)


def test_two_servers_have_separate_environments(server: ForkServer, tmp_path: Path) -> None:
    source = "import os; print(os.environ['HEADROOM_TEST'], os.environ.get('HF_HUB_OFFLINE', 'online'))"
    with ForkServer({"HEADROOM_TEST": "there"}, preload=(), offline=False) as other:
        outcome = run(other, tmp_path, source)
        assert outcome.stdout == "there online\n" or "HF_HUB_OFFLINE" in os.environ
        assert outcome.network is network_block.Kind.OPEN
        assert run(server, tmp_path, source).stdout == "here 1\n"


def test_failed_preload_is_an_error(tmp_path: Path) -> None:
    with (
        ForkServer({}, preload=("headroom.no_such_module",)) as broken,
        pytest.raises(ForkServerError, match=r"(?s)cannot be imported; install .*headroom\.no_such_module"),
    ):
        run(broken, tmp_path, "")


def test_killed_server_is_an_error_and_the_next_job_starts_a_new_one(tmp_path: Path) -> None:
    with ForkServer({}, preload=()) as server:
        with pytest.raises(ForkServerError, match="died"):
            run(server, tmp_path, "import os, time; os.kill(os.getppid(), 9); time.sleep(1)")
        assert run(server, tmp_path, "").exit_code == 0


def test_interrupted_wait_kills_the_job(tmp_path: Path) -> None:
    def interrupt() -> None:
        while not (tmp_path / "pid").exists():
            time.sleep(0.05)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    try:
        with ForkServer({}, preload=()) as server:
            thread = threading.Thread(target=interrupt)
            thread.start()
            with pytest.raises(KeyboardInterrupt):
                run(server, tmp_path, "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)")
            thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert_gone(int((tmp_path / "pid").read_text()))


def test_arguments_reach_the_child(server: ForkServer, tmp_path: Path) -> None:
    outcome = server.run(exec, "open('result', 'w').write(str(1 + a))", {"a": 2}, **LIMITS, cwd=tmp_path)
    assert outcome.exit_code == 0
    assert json.loads((tmp_path / "result").read_text()) == 3


def test_long_output_keeps_its_last_mebibyte(server: ForkServer, tmp_path: Path) -> None:
    outcome = run(server, tmp_path, "print('x' * (3 << 20) + 'end')")
    assert len(outcome.stdout) == 1 << 20
    assert outcome.stdout.endswith("end\n")


PARENT = """if True:
    import pathlib, runpy, sys
    from headroom.execution.isolation import ForkServer
    with ForkServer({}, preload=sys.argv[2:]) as server:
        server.run(runpy.run_path, sys.argv[1], timeout=60, memory_limit=1 << 40, cwd=pathlib.Path.cwd())
"""
SLEEPER = """if True:
    import os, subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    open("pids.new", "w").write(f"{os.getppid()} {os.getpid()} {child.pid}")
    os.rename("pids.new", "pids")
    time.sleep(600)
"""


def doomed(folder: Path, *preload: str) -> subprocess.Popen[bytes]:
    """Start a process with a server whose job sleeps; the job writes the process ids to the file `pids`."""
    (folder / "script.py").write_text(SLEEPER)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(folder)])}
    return subprocess.Popen([sys.executable, "-c", PARENT, "script.py", *preload], env=environment, cwd=folder)


def pids(folder: Path) -> list[int]:
    """Wait for the file `pids`, and return its process ids."""
    for _ in range(600):
        if (folder / "pids").exists() and (text := (folder / "pids").read_text()):
            return [int(pid) for pid in text.split()]
        time.sleep(0.05)
    raise AssertionError("no work started")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_caller_ends_server_job_and_descendants(tmp_path: Path, number: signal.Signals) -> None:
    with doomed(tmp_path) as parent:
        found = pids(tmp_path)
        parent.send_signal(number)
    for pid in found:
        assert_gone(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux signals a child when its parent ends")
def test_killed_server_ends_its_job(tmp_path: Path) -> None:
    """The kernel may kill the server when memory is short; then nothing would enforce the job's limits."""
    with doomed(tmp_path) as parent:
        fork_server_pid, work, stray = pids(tmp_path)
        os.kill(fork_server_pid, signal.SIGKILL)
        assert_gone(work)
        parent.wait(timeout=30)
    os.kill(stray, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux signals a child when its parent ends")
def test_killed_caller_ends_a_server_that_is_still_importing(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import os, time\nopen('pids', 'w').write(f'{os.getpid()} ')\ntime.sleep(600)\n")
    with doomed(tmp_path, "slow") as parent:
        (importing,) = pids(tmp_path)
        parent.kill()
    assert_gone(importing)


class TestCpuLoadOfOthers:
    """The CPU load of other processes."""

    @pytest.mark.parametrize(
        ("cores", "work", "expected"),
        [
            ([(10.0, 100.0), (16.0, 120.0)], 4.0, 0.1),
            ([(10.0, 100.0), (16.0, 120.0)], 7.0, 0.0),
            ([(10.0, 100.0), (10.0, 100.0)], 0.0, None),
            ([None, (10.0, 100.0)], 0.0, None),
            ([(10.0, 100.0), None], 0.0, None),
        ],
    )
    def test_load_excludes_the_job_and_the_server(
        self,
        monkeypatch: pytest.MonkeyPatch,
        cores: list[tuple[float, float] | None],
        work: float,
        expected: float | None,
    ) -> None:
        """Clock ticks are coarse, so a share below zero counts as zero."""
        answers = iter(cores)
        monkeypatch.setattr(fork_server.environment, "cpu_seconds", lambda: next(answers))
        monkeypatch.setattr(fork_server.time, "process_time", iter([1.0, 1.0]).__next__)
        assert fork_server._CpuLoad().others(work) == expected


def test_started_server_is_reused_and_reports_failed_imports(tmp_path: Path) -> None:
    with ForkServer({}, preload=("colorsys",)) as server:
        assert server.start() is server
        parent = server._parent
        assert parent
        assert parent.poll() is None
        assert server.run(print, "x", timeout=60, memory_limit=1 << 34, cwd=tmp_path).stdout == "x\n"
        assert server.start()._parent is parent
    with (
        ForkServer({}, preload=("headroom.no_such_module",)) as broken,
        pytest.raises(ForkServerError, match="no_such_module"),
    ):
        broken.start()
