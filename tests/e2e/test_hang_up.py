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


@pytest.fixture(autouse=True)
def nothing_is_ignored() -> Iterator[None]:
    """What is started here hears SIGHUP, also if the tests themselves were started with ``nohup``."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


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
    assert "bug in saltern" not in err
    assert "Traceback" not in err
    finished(place)


PARALLEL = """
{% for name in ("one", "two", "three") %}
{{ name }}:
  cmd.run:
    - name: echo {{ name }} >> AT/log; touch AT/on-{{ name }}; while [ ! -e AT/go ]; do sleep 0.05; done
    - parallel: true
{% endfor %}
after:
  cmd.run: [{name: echo after >> AT/log}, {require: [{cmd: one}, {cmd: two}, {cmd: three}]}]
"""


def forked(place: Place) -> list[str]:
    """Processes of a run, without the keepers of its commands: those have sessions of their own."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            line = Path("/proc", entry, "cmdline").read_bytes().decode(errors="replace")
            ours = entry.isdigit() and "\0-m\0saltern\0" in line and str(place.base) in line
            if ours and os.getsid(int(entry)) != int(entry):
                found.append(line)
        except (OSError, ValueError):
            continue
    return found


@pytest.mark.parametrize(
    "numbers",
    [(HUP,), (HUP, TERM), (TERM, HUP), (TERM, TERM), (TERM, HUP, TERM, TERM), (signal.SIGINT, TERM)],
)
def test_the_processes_of_parallel_states_end_while_their_commands_go_on(
    place: Place, numbers: tuple[signal.Signals, ...]
) -> None:
    at = str(place.base)
    place.write({"main.sls": PARALLEL.replace("AT", at)})
    process = place.start("apply", "main")
    for name in ("one", "two", "three"):
        until((place.base / f"on-{name}").exists, "it does not begin")
    for number in numbers:
        process.send_signal(number)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    until(lambda: not forked(place), "a forked process is left behind")
    (place.base / "go").touch()
    done = place.run("resume")
    assert done.code == 0, done.out + done.err
    assert sorted((place.base / "log").read_text().split()) == ["after", "one", "three", "two"]
    until(lambda: not of(place), "processes are left behind")


FRAMES = """
caller:
  test.nop:
    - delayed_render: [{block: inner}]
#!delayed_block inner
long:
  cmd.run:
    - name: echo long >> AT/log; touch AT/on; while [ ! -e AT/go ]; do sleep 0.05; done

after:
  cmd.run: [{name: echo after >> AT/log}, {require: [{cmd: long}]}]
#!end_delayed_block inner
"""


@pytest.mark.parametrize("numbers", [(HUP,), (HUP, TERM)])
def test_a_run_that_is_hung_up_in_a_frame_continues_there(
    place: Place, numbers: tuple[signal.Signals, ...]
) -> None:
    place.write({"main.sls": FRAMES.replace("AT", str(place.base))})
    process = place.start("apply", "main")
    until((place.base / "on").exists, "it does not begin")
    for number in numbers:
        process.send_signal(number)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    finished(place)


@pytest.mark.parametrize("numbers", [(HUP,), (HUP, TERM), (TERM,)])
def test_one_that_waits_for_the_lock_ends_and_leaves_the_run_alone(
    place: Place, numbers: tuple[signal.Signals, ...]
) -> None:
    first = place.start("apply", "main")
    until((place.base / "on").exists, "it does not begin")
    waiting = place.start("apply", "main", "--queue", "1000")
    assert waiting.stderr is not None
    said = waiting.stderr.readline()  # that it waits, and for what
    for number in numbers:
        waiting.send_signal(number)
    _, err = waiting.communicate(timeout=PATIENCE)
    assert waiting.returncode == 130, said + err
    assert b"Traceback" not in err
    (place.base / "go").touch()
    first.communicate(timeout=PATIENCE)
    assert first.returncode == 0
    assert (place.base / "log").read_text().split() == ["long", "after"]
    until(lambda: not of(place), "processes are left behind")


@pytest.mark.parametrize("words", [("plan", "main", "-o", "kept.plan"), ("drift", "main")], ids=" ".join)
@pytest.mark.parametrize("numbers", [(HUP,), (HUP, TERM), (TERM,)])
def test_a_look_that_is_hung_up_is_no_plan(
    place: Place, numbers: tuple[signal.Signals, ...], words: tuple[str, ...]
) -> None:
    """What was seen by then would be taken for all there is to do."""
    at = place.base
    wait = f"touch {at}/on; while [ ! -e {at}/go ]; do sleep 0.05; done"
    place.write({"main.sls": f"it:\n  test.nop:\n    - onlyif: '{wait}'\n"})
    process = place.start(*words)
    until((at / "on").exists, "it does not begin")
    for number in numbers:
        process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    (at / "go").touch()
    assert not (at / "kept.plan").exists()
    until(lambda: not of(place), "processes are left behind")


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
