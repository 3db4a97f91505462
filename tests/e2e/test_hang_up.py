"""A terminal that is closed, a connection that breaks: the run ends in order, can be resumed, leaves nothing.

Whoever is hung up on is treated as one that is asked to end by SIGTERM. Commands of a run go on, as they do
after any other end of it, and have their result when the run is resumed.
"""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from tests.e2e.command import SALTERN, Place

PATIENCE = 60.0
RUN = """
long:
  cmd.run:
    - name: echo long >> {at}/log; touch {at}/on; while [ ! -e {at}/go ]; do sleep 0.05; done; echo out

after:
  cmd.run: [{{name: echo after >> {at}/log}}, {{require: [{{cmd: long}}]}}]
"""
CHAIN = """
chain: c
id: c1
actions:
  - id: long
    command: {{run: 'echo long >> {at}/log; touch {at}/on; while [ ! -e {at}/go ]; do sleep 0.05; done'}}
  - id: after
    command: {{run: 'echo after >> {at}/log'}}
"""


def until(true: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.02)


class Session:
    """A process with a terminal of its own, whose first process it is, as after a login."""

    def __init__(self, argv: list[str], place: Place, env: dict[str, str]) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.chdir(place.base)
            os.execve(argv[0], argv, env)
        self._code: int | None = None
        self._said = bytearray()
        self._reader = threading.Thread(target=self._read)
        self._hung = os.pipe()
        self._reader.start()

    def _read(self) -> None:
        import select

        while True:
            ready, _, _ = select.select([self._terminal, self._hung[0]], [], [])
            if self._hung[0] in ready:
                return
            try:
                self._said += os.read(self._terminal, 65536)
            except OSError:
                return

    def hang_up(self) -> None:
        """The last end of the terminal is closed: the kernel does the rest."""
        os.write(self._hung[1], b"x")
        self._reader.join()
        os.close(self._terminal)

    def ended(self) -> bool:
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code is not None

    @property
    def code(self) -> int:
        until(self.ended, "it does not end")
        assert self._code is not None
        return self._code


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    made.write({"main.sls": RUN.format(at=tmp_path)})
    (tmp_path / "chain.yaml").write_text(CHAIN.format(at=tmp_path))
    yield made
    (tmp_path / "go").touch()


def environment(place: Place) -> dict[str, str]:
    names = {"SALTERN_CACHEDIR": place.base / "cache", "SALTERN_STATE_DIR": place.base / "runs"}
    return {"PATH": os.environ["PATH"], "HOME": str(place.base), "TERM": "xterm"} | {
        name: str(value) for name, value in names.items()
    }


WAYS = {"run": ("apply", "main"), "chain": ("chain", "run")}


def argv(place: Place, what: str) -> list[str]:
    words = (*WAYS[what], str(place.base / "chain.yaml")) if what == "chain" else WAYS[what]
    return [*SALTERN, *place.argv(*words)]


def finished(place: Place) -> None:
    """It is resumed: the command that went on is not started again, and nothing is left in the end."""
    (run,) = msgspec.json.decode(place.run("runs", "--out", "json").out)["local"]
    assert (run["status"], run["by_user"]) == ("interrupted", False)
    (place.base / "go").touch()
    done = place.run("resume")
    assert done.code == 0, done.out + done.err
    assert (place.base / "log").read_text().split() == ["long", "after"]
    until(lambda: not of(place), "processes are left behind")


def of(place: Place) -> list[str]:
    """Command lines of processes that belong to this place."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                line = (
                    Path("/proc", entry, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
                around = Path("/proc", entry, "environ").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if str(place.base) in line + around:
                found.append(line)
    return found


@pytest.mark.parametrize("what", WAYS)
def test_a_terminal_that_is_closed_ends_it_in_order(place: Place, what: str) -> None:
    session = Session(argv(place, what), place, environment(place))
    until((place.base / "on").exists, "it does not begin")
    session.hang_up()
    assert session.code == 130
    finished(place)


HUP, TERM = signal.SIGHUP, signal.SIGTERM


@pytest.mark.parametrize("numbers", [(HUP,), (HUP, HUP, HUP), (HUP, TERM), (TERM, HUP)])
@pytest.mark.parametrize("what", WAYS)
def test_a_signal_does_the_same_however_often_it_comes(
    place: Place, what: str, numbers: tuple[signal.Signals, ...]
) -> None:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(argv(place, what), cwd=place.base, env=environment(place), **streams)  # type: ignore[call-overload]
    until((place.base / "on").exists, "it does not begin")
    for number in numbers:
        process.send_signal(number)
    out, err = (part.decode() for part in process.communicate(timeout=PATIENCE))
    assert process.returncode == 130, out + err
    assert "mistake of ours" not in err
    assert "Traceback" not in err
    finished(place)


def test_what_ignores_it_goes_on_ignoring_it(place: Place) -> None:
    """As ``nohup`` starts it."""
    nohup = ["/bin/sh", "-c", 'trap "" HUP; exec "$@" >/dev/null 2>&1', "sh", *argv(place, "run")]
    session = Session(nohup, place, environment(place))
    until((place.base / "on").exists, "it does not begin")
    session.hang_up()
    assert not session.ended()
    (place.base / "go").touch()
    assert session.code == 0
    assert (place.base / "log").read_text().split() == ["long", "after"]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_parallel_states_and_single_calls_leave_nothing_behind(place: Place, number: int) -> None:
    wait = f"touch {place.base}/on; exec sleep 1000"
    for words in (("call", "cmd.run", wait), ("single", "cmd.run", f"name={wait}")):
        (place.base / "on").unlink(missing_ok=True)
        process = place.start(*words)
        until((place.base / "on").exists, "it does not begin")
        process.send_signal(number)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        until(lambda: not of(place), "processes are left behind")


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_language_server_ends_with_its_workers(place: Place, number: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "saltern", "lsp", "--file-root", str(place.states)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(place),
    )
    assert process.stdin is not None
    params: dict[str, object] = {"capabilities": {}, "processId": None}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    body = msgspec.json.encode(asked).decode()
    process.stdin.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
    process.stdin.flush()
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"Content-Length")
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert b"Traceback" not in err, err.decode()
    until(lambda: not of(place), "processes are left behind")
