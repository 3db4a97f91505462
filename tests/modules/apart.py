"""Tests in a world of their own: its own network, host name and mounts, with /etc and /run to write to.

What such a test does to the machine is gone when it ends.
"""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import subprocess
import tempfile
import traceback
from collections.abc import Callable
from typing import ParamSpec

import pytest

P = ParamSpec("P")
MOUNTS, NAMES, NETWORK = 0x00020000, 0x04000000, 0x40000000  # unshare(2)


def apart(test: Callable[P, None]) -> Callable[P, None]:
    """Runs the test in a child process that has left the machine's namespaces."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        scratch = tempfile.mkdtemp(prefix="saltern-t-")
        readable, writable = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(readable)
            _child(lambda: test(*args, **kwargs), scratch, writable)
        os.close(writable)
        with os.fdopen(readable) as told:
            said = told.read()
        os.waitpid(child, 0)
        shutil.rmtree(scratch)
        kind, _, text = said.partition(":")
        if kind == "skip":
            pytest.skip(text)
        assert kind == "fine", text

    return run


def _child(test: Callable[[], None], scratch: str, writable: int) -> None:
    """Never returns: what came of it goes down the pipe."""
    try:
        said = _leave(scratch)
        if not said:
            test()
            said = "fine:"
    except pytest.skip.Exception as why:
        said = f"skip:{why}"
    except BaseException:
        said = f"failed:{traceback.format_exc()}"
    try:
        os.write(writable, said.encode()[-60000:])
    finally:
        os._exit(0)


def _leave(scratch: str) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(MOUNTS | NAMES | NETWORK):
        return f"skip:no namespaces to be had here: {os.strerror(ctypes.get_errno())}"
    _run("mount", "--make-rprivate", "/")
    _run("mount", "-t", "tmpfs", "tmpfs", scratch)
    _run("mount", "-t", "sysfs", "sysfs", "/sys")  # it shows the network of who mounts it
    for place in ("etc", "run"):
        upper, work = f"{scratch}/{place}-upper", f"{scratch}/{place}-work"
        os.mkdir(upper)
        os.mkdir(work)
        options = f"lowerdir=/{place},upperdir={upper},workdir={work}"
        made = subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, f"/{place}"], check=False)
        if made.returncode:
            return "skip:no overlay file system to be had here"
    _run("ip", "link", "set", "lo", "up")
    return ""


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True)
