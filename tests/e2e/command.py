"""The command line as tests use it: a place with a tree of files, and what a command did there.

``Place.run`` forks: the child has everything imported, so a run costs milliseconds, and whatever
it does to its process (signals, limits, an exit) stays there. ``Place.start`` is the real program.
"""

from __future__ import annotations

import gc
import json
import os
import re
import resource
import signal
import subprocess
import sys
import warnings
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import IO

import msgspec
from tests.large_pages import keep_for_forks

import saltern.cli.main
import saltern.render
import saltern.report
from saltern.cli.streams import keep_order

SALTERN = [sys.executable, "-m", "saltern"]
MEMORY = 3 << 30
SECONDS = 200
NOBODY = 65534
A_FEW = 5  # runs in one process: from then on, what they import is imported before they are forked
_runs = count()


class Done(msgspec.Struct, frozen=True):
    """What a command left behind. A ``code`` below zero is the signal that ended it."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, dict[str, dict[str, object]]]:
        """``--out json`` of a run. Python's reader, since it takes half characters, too."""
        return msgspec.convert(json.loads(self.out), dict[str, dict[str, dict[str, object]]])

    def answers(self) -> dict[str, dict[str, object]]:
        """The same by ID."""
        return {str(answer["__id__"]): answer for answer in self.json()["local"].values()}

    def problems(self) -> list[str]:
        """``--out json`` of what did not compile."""
        return msgspec.convert(json.loads(self.out), dict[str, list[str]])["local"]

    def lines(self) -> list[dict[str, object]]:
        """``--out jsonl``."""
        return [msgspec.convert(json.loads(line), dict[str, object]) for line in self.out.splitlines()]


class Place:
    """A directory with ``states``, ``pillar`` and whatever else a test writes."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.states = base / "states"
        self.states.mkdir()
        (base / "runs").mkdir(mode=0o700)

    def write(self, files: Mapping[str, str | bytes]) -> Place:
        """``pillar/…`` and ``etc/…`` lie beside the states; every other path is below the states."""
        for name, content in files.items():
            path = (self.base if name.startswith(("pillar/", "etc/")) else self.states) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self

    def argv(self, command: str, *words: str) -> list[str]:
        """The command with the roots of this place, unless it names others."""
        argv = [command, *words]
        given = {word.partition("=")[0] for word in words}
        for flag, folder in (
            ("--file-root", "states"),
            ("--pillar-root", "pillar"),
            ("--config", "etc/saltern.yaml"),
        ):
            if flag not in given and (folder == "states" or (self.base / folder).exists()):
                argv.append(f"{flag}={self.base / folder}")
        return argv

    def run(self, command: str, *words: str, user: int = 0, env: Mapping[str, str] | None = None) -> Done:
        """As another ``user``, who then has the state directory, too."""
        if user:
            os.chown(self.base / "runs", user, user)
        return forked(self.argv(command, *words), self.base, user=user, env=env)

    def start(
        self, command: str, *words: str, env: Mapping[str, str] | None = None, **streams: int | IO[bytes]
    ) -> subprocess.Popen[bytes]:
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **streams}
        argv = [*SALTERN, *self.argv(command, *words)]
        return subprocess.Popen(argv, cwd=self.base, env=_environment(self.base, env), **given)  # type: ignore[call-overload, no-any-return]

    def real(self, command: str, *words: str, env: Mapping[str, str] | None = None) -> Done:
        """The real program, to its end."""
        process = self.start(command, *words, env=env)
        out, err = process.communicate(timeout=SECONDS)
        return Done(process.returncode, out.decode(), err.decode())


@cache
def _import_all() -> None:
    """What a child would import, each of them would import again; and another user may not even be allowed to
    read the Python of this one. No command here needs the fleet."""
    import difflib  # noqa: F401
    import encodings.utf_8_sig  # noqa: F401
    import pkgutil
    import sqlite3  # noqa: F401

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pytest makes errors of them; the program does not
        for module in pkgutil.walk_packages(saltern.__path__, "saltern.", onerror=lambda _: None):
            if not module.name.endswith("__main__") and not module.name.startswith("saltern.fleet"):
                with suppress(ImportError):  # of a program that is not installed here
                    __import__(module.name)
    keep_for_forks()


def _environment(base: Path, more: Mapping[str, str] | None) -> dict[str, str]:
    """Nothing of the machine's own configuration, and a cache of the test's own."""
    keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {
        **keep,
        "HOME": str(base),
        "SALTERN_CACHEDIR": str(base / "cache"),
        "SALTERN_STATE_DIR": str(base / "runs"),
        "SALTERN_CHAINS_IN_MEMORY": "true",  # tests may have their state there, and boots that forget nothing
        "PYTHONUTF8": "1",
        **(more or {}),
    }


def forked(argv: list[str], base: Path, *, user: int = 0, env: Mapping[str, str] | None = None) -> Done:
    """``saltern argv…`` in a forked child with bounded memory and time."""
    if next(_runs) >= A_FEW:
        _import_all()
    names = [str(base / f"_{stream}") for stream in ("out", "err")]
    files = [os.open(name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600) for name in names]
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            code = _child(argv, files, base, user, _environment(base, env))
        finally:
            os._exit(code)
    for file in files:
        os.close(file)
    status = os.waitpid(pid, 0)[1]
    out, err = (Path(name).read_bytes().decode("utf-8", "surrogateescape") for name in names)
    return Done(os.waitstatus_to_exitcode(status), out, err)


def _child(argv: list[str], files: list[int], base: Path, user: int, env: Mapping[str, str]) -> int:
    gc.freeze()  # what the parent has is not looked at again: that would copy all of it
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.alarm(SECONDS)
    warnings.simplefilter("ignore")  # pytest makes errors of them; the program does not
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number, file in enumerate(files, start=1):
        os.dup2(file, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    held = sys.stderr  # or its file would be closed with it
    keep_order()  # as the program does when it begins
    os.chdir(base)
    os.environ.clear()
    os.environ.update(env)
    if user:
        _import_all()
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    code = saltern.cli.main.run(argv)
    for stream in (sys.stdout, sys.stderr, held):
        stream.flush()
    return code


def is_told_well(done: Done) -> None:
    """What holds for every problem: our words, not Python's; nothing a terminal would obey."""
    both = done.out + done.err
    assert done.code >= 0, f"ended by signal {-done.code}: {both[-400:]}"
    assert done.code not in (70, 99), both
    assert "Traceback" not in both
    assert "a bug in saltern" not in both
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", both), "control characters"
