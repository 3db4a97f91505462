"""A machine of its own for an agent: a network namespace with a cable to this one, and its own processes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class Machine:
    """``here`` is the address of this side. What runs inside begins with ``inside``, all of it in a PID
    namespace that ends with its first process.
    """

    def __init__(self, number: int) -> None:
        self.name = f"sf{os.getpid()}-{number}"
        self.link = f"sf{os.getpid() % 100_000}{number}"
        self.here, self.there = f"10.213.{number}.1", f"10.213.{number}.2"
        self.inside = (
            *("ip", "netns", "exec", self.name),
            *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
        )

    def make(self) -> None:
        ip("netns", "add", self.name)
        ip("link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        ip("addr", "add", f"{self.here}/24", "dev", self.link)
        ip("link", "set", self.link, "up")
        for words in (f"addr add {self.there}/24 dev eth0", "link set eth0 up", "link set lo up"):
            ip("-n", self.name, *words.split())

    def cut(self) -> None:
        ip("link", "set", self.link, "down")

    def connect(self) -> None:
        ip("link", "set", self.link, "up")

    def lose_packets(self, percent: int) -> None:
        """Lose so many of the packets to the machine, and delay the others."""
        words = f"qdisc replace dev {self.link} root netem loss {percent}% delay 5ms"
        done = subprocess.run(["tc", *words.split()], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"packets cannot be lost here: {done.stderr.strip()}")

    def remove(self) -> None:
        with suppress(subprocess.CalledProcessError):
            ip("link", "del", self.link)
        with suppress(subprocess.CalledProcessError):
            ip("netns", "del", self.name)


@contextmanager
def machine(number: int = 1) -> Iterator[Machine]:
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("network namespaces can only be made by root, with ip")
    made = Machine(number)
    try:
        try:
            made.make()
        except subprocess.CalledProcessError as problem:
            pytest.skip(f"no network namespace is allowed here: {problem.stderr.strip()}")
        yield made
    finally:
        made.remove()
