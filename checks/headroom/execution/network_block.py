"""Block the network for a process: in a network namespace, or with an audit hook."""

import contextlib
import ctypes
import errno
import fcntl
import ipaddress
import os
import socket
import struct
import sys
from enum import StrEnum
from pathlib import Path
from typing import Any

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1


class Kind(StrEnum):
    """How the network is blocked."""

    NAMESPACE = "namespace"
    """A network namespace with only a loopback device; it also covers child processes."""
    AUDIT_HOOK = "audit hook"
    """A Python audit hook, used if namespaces are not permitted; it covers the Python code of this process."""
    OPEN = "open"
    """Not blocked: the work needs the network."""


def available() -> Kind:
    """Return the strongest permitted kind; a child process tries it, because a process cannot leave a namespace."""
    child = os.fork()
    if child == 0:
        try:
            _enter_namespace()
        except BaseException:  # noqa: BLE001 - any failure means that namespaces are not permitted
            os._exit(1)
        os._exit(0)
    return Kind.NAMESPACE if os.waitpid(child, 0)[1] == 0 else Kind.AUDIT_HOOK


def close(kind: Kind) -> None:
    """Block every network but loopback for the rest of this process."""
    if kind is Kind.NAMESPACE:
        _enter_namespace()
    elif kind is Kind.AUDIT_HOOK:
        sys.addaudithook(_refuse)


def _enter_namespace() -> None:
    """Move into a new network namespace, as root or through a user namespace, and bring its loopback device up.

    Raises:
        OSError: namespaces are not permitted.
    """
    uid, gid = os.getuid(), os.getgid()
    try:
        _unshare(_CLONE_NEWNET)
    except OSError:
        _unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            Path(f"/proc/self/{name}").write_text(text, encoding="ascii")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as device:
        fcntl.ioctl(device, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP))


def _unshare(flags: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    """Raise an OSError if this process is about to connect to, or look up, another host."""
    if event in ("socket.connect", "socket.sendto"):
        host = args[1][0] if isinstance(args[1], tuple) else None
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = args[0]
    else:
        return
    if not _is_here(host.decode() if isinstance(host, bytes) else host):
        raise OSError(errno.ENETUNREACH, f"the network is blocked for snippets and benchmarks ({event})")


def _is_here(host: str | None) -> bool:
    """Return whether a host is this machine; None stands for a Unix socket."""
    if host in (None, "", "localhost", socket.gethostname()):
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False
