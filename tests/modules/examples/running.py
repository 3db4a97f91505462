"""What is done with an example inside its sandbox."""

from __future__ import annotations

import io
import os
import shlex
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout

from tests.modules.examples.reading import steps

from saltern.cli.main import run
from saltern.config.settings import Settings
from saltern.engine.apply import apply
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.language.diagnostics import SalternError
from saltern.language.events import Answer

Job = Callable[[str], object]
Start = Callable[[], object]

TRACE = "/etc/saltern-t-trace"
SLS = "/srv/salt/example.sls"
PROVIDERS = {"service": "sysv"}  # the machine of the examples has init scripts
PASSES = (True, False, False)  # test mode, then really, then again
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "COLUMNS": "80",
    "NO_COLOR": "1",
    "SALTERN_ID": "web1",
    "DEBIAN_FRONTEND": "noninteractive",
}


def settle() -> None:
    """Nothing of whoever runs the tests reaches the examples."""
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    os.umask(0o022)


def mischief() -> dict[str, object]:
    """What root can do in a sandbox, and how many processes it sees."""
    deeds: dict[str, Start] = {
        "write a file": lambda: _write(TRACE, "x"),
        "name the machine": lambda: socket.sethostname("web1"),
        "set the clock": lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()),
        "set the kernel": lambda: _write("/proc/sys/vm/swappiness", "60"),
        "boot": lambda: _write("/proc/sysrq-trigger", "h"),  # "h" only helps
    }
    seen = sum(one.isdigit() for one in os.listdir("/proc"))
    return {"succeeded": [what for what, deed in deeds.items() if _works(deed)], "processes": seen}


def _works(deed: Start) -> bool:
    try:
        deed()
    except OSError:
        return False
    return True


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def name_machine() -> None:
    """Inside of a sandbox, which has a name of its own."""
    socket.sethostname(ENVIRONMENT["SALTERN_ID"])


def prepare(script: str) -> str:
    """Run a shell script; what went wrong, or an empty text. What it starts in the background may stay."""
    with open("/tmp/preparation", "w+", encoding="utf-8") as told:
        done = subprocess.run(["bash", "-euc", script], stdin=subprocess.DEVNULL, stdout=told, stderr=told)
        told.seek(0)
        return f"the preparation failed: {told.read()}" if done.returncode else ""


def state(text: str, *, only_test: bool = False) -> list[dict[str, dict[str, object]]]:
    """The answers of each pass, by the tag of the state."""
    os.makedirs(os.path.dirname(SLS), exist_ok=True)
    _write(SLS, text + "\n")
    return [_pass(test) for test in PASSES if test or not only_test]


def _pass(test: bool) -> dict[str, dict[str, object]]:
    session = Session(Settings(id="web1", test=test, strict=True, extra={"providers": PROVIDERS}))
    try:
        report = apply(session, Request(sls=("example",)))
    except SalternError as problem:
        return {"": {"outcome": False, "comment": "\n".join(map(str, problem.diagnostics))}}
    return {
        f"{answer.chunk.function} {answer.chunk.id} {answer.chunk.name}": _shown(answer)
        for answer in report.answers
    }


def _shown(answer: Answer) -> dict[str, object]:
    result = answer.result
    return {
        "function": answer.chunk.function,
        "outcome": result.outcome.value,
        "comment": result.comment,
        "changes": result.changes,
        "data": result.data,
        "warnings": list(result.warnings),
        "ran": result.ran,
    }


def transcript(text: str) -> list[dict[str, object]]:
    """Every command of it, what it is said to print, what it printed, and how it ended."""
    return [{"command": command, "said": said, **_command(command)} for command, said in steps(text)]


def _command(command: str) -> Mapping[str, object]:
    words = shlex.split(command)
    if words[0] != "saltern":
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return {"printed": done.stdout, "told": done.stderr, "code": done.returncode}
    printed, told = io.StringIO(), io.StringIO()
    with redirect_stdout(printed), redirect_stderr(told):
        code = run(words[1:])
    return {"printed": printed.getvalue(), "told": told.getvalue(), "code": code}


def template(text: str) -> Iterator[dict[str, object]]:
    """The text after Jinja ran."""
    session = Session(Settings(id="web1", extra={"providers": PROVIDERS}))
    session.load_pillar()
    try:
        printed = session.renderers.text(text, engine="jinja", env="base", path="example.jinja")
    except SalternError as problem:
        yield {"command": text, "printed": "", "told": "\n".join(map(str, problem.diagnostics)), "code": 1}
    else:
        yield {"command": text, "printed": printed, "told": "", "code": 0}
