"""Makes a machine and lets it join: a network and a PID namespace with an agent. What is done is left alone.

``new_machine.py BASE SOCKET NAME NUMBER``: run by a state of ``test_story.py``, which may be killed at any
moment, so that two of these can run at once. It prints nothing but the name.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from saltern.fleet.client.client import Client
from saltern.system import own_program


class NewMachine:
    """``link`` is the end of its cable on this side, ``here`` the address of that."""

    def __init__(self, base: Path, name: str, number: int) -> None:
        self.base, self.name, self.folder = base, name, base / name
        self.space = f"{base.name}-{name}"
        self.link = f"{base.name[3:9]}{number}"
        self.here, self.there = f"10.214.{number}.1", f"10.214.{number}.2"
        self.inside = (
            *("ip", "netns", "exec", self.space),
            *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
        )

    def note(self, what: str) -> None:
        with (self.base / f"{self.name}.made").open("a") as file:
            file.write(f"{what}\n")

    def make(self) -> None:
        """The namespace last: if it has its address, all is there."""
        addresses = subprocess.run(["ip", "-n", self.space, "addr"], capture_output=True, text=True).stdout
        if self.there in addresses:
            return
        self.remove()
        ip("netns", "add", self.space)
        ip("link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.space)
        ip("addr", "add", f"{self.here}/24", "dev", self.link)
        ip("link", "set", self.link, "up")
        for words in ("link set lo up", "link set eth0 up", f"addr add {self.there}/24 dev eth0"):
            ip("-n", self.space, *words.split())
        self.note("machine")

    def join(self, socket: str) -> None:
        if (self.base / f"{self.name}.joined").exists():
            return
        with Client(socket) as client:
            token = client.tokens.make()
        words = ["agent", "join", token, "--directory", str(self.folder), "--id", self.name]
        subprocess.run([*self.inside, *own_program.command("saltern", words)], check=True, stdout=sys.stderr)
        (self.base / f"{self.name}.joined").touch()
        self.note("joined")

    def start(self, lock: int) -> None:
        words = ["agent", "run", "--directory", str(self.folder)]
        with (self.base / f"{self.name}.log").open("ab") as log:
            agent = subprocess.Popen(
                [*self.inside, *own_program.command("saltern", words)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        os.close(lock)
        (self.base / f"{self.name}.pid").write_text(str(agent.pid))

    def remove(self) -> None:
        for words in (["link", "del", self.link], ["netns", "del", self.space]):
            subprocess.run(["ip", *words], check=False, capture_output=True)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def main(base: str, socket: str, name: str, number: str) -> None:
    machine = NewMachine(Path(base), name, int(number))
    lock = os.open(f"{base}/{name}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    if not os.path.exists(f"{base}/{name}.pid"):
        machine.make()
        machine.join(socket)
        machine.start(lock)
    print(name, end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
