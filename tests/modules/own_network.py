"""Programs run in a network of their own: real firewalls that nobody else on the machine can feel."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from saltern.system.host import LocalHost
from saltern.system.process import Ran, run


class OtherHost(LocalHost):
    """This machine, its programs run in the namespaces of another process; files are the real ones.

    ``instead`` puts one program in the place of another: ``{"iptables": "iptables-legacy"}``.
    """

    def __init__(
        self, pid: int, env: Mapping[str, str] | None = None, instead: Mapping[str, str] | None = None
    ) -> None:
        self.enter = ["nsenter", f"--target={pid}", "--net", "--mount"]
        self.env = dict(env or {})
        self.instead = dict(instead or {})
        self.asked: list[str] = []

    def run(self, command: str | Sequence[str], **options: Any) -> Ran:
        argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        argv[0] = self.instead.get(argv[0], argv[0])
        self.asked.append(" ".join(argv))
        options["env"] = {**self.env, **(options.get("env") or {})}
        where = options.pop("cwd", None)
        ran = run([*self.enter, *([f"--wdns={where}"] if where else []), "--", *argv], **options)
        missing = ran.code == 127 and not ran.out and "failed to execute" in ran.err
        return Ran(127, err=f"{argv[0]}: no such file or directory") if missing else ran


@contextmanager
def namespaces(first: str = "true") -> Iterator[int]:
    """A process with a network and mounts of its own, made ready by ``first``; it lives until it is left."""
    keeper = subprocess.Popen(
        ["unshare", "--net", "--mount", "sh", "-ec", f"ip link set lo up; {first}; echo ready; cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert keeper.stdin is not None and keeper.stdout is not None
    try:
        if keeper.stdout.readline() != b"ready\n":
            pytest.skip("no namespaces to be had here")
        yield keeper.pid
    finally:
        keeper.communicate()
