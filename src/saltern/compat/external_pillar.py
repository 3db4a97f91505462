"""Sources of ``ext_pillar`` that need no module: commands and files, by the name of the machine.

``%s`` in a command or a path stands for that name. A command is not run by a shell: the name of a machine is
chosen by its administrator.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Mapping

from saltern.language.diagnostics import Diagnostic, PillarError

LIMIT = 60.0  # seconds
MOST = 64 << 20  # bytes


def _yaml(text: str) -> object:
    from saltern.render.yaml import read

    return read(text)


def _json(text: str) -> object:
    import msgspec

    return msgspec.json.decode(text)


def _run(command: object, minion_id: str, read: Callable[[str], object]) -> object:
    words = [word.replace("%s", minion_id) for word in shlex.split(str(command))]
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False, text=True
    )
    if done.returncode:
        raise ValueError(f"{words[0]} ended with the exit code {done.returncode}")
    return read(done.stdout)


def cmd_yaml(minion_id: str, command: object) -> object:
    """What a command prints, as YAML."""
    return _run(command, minion_id, _yaml)


def cmd_json(minion_id: str, command: object) -> object:
    """What a command prints, as JSON."""
    return _run(command, minion_id, _json)


def file(minion_id: str, path: object) -> object:
    """A file of YAML or JSON; one that does not exist gives nothing."""
    if os.sep in minion_id:
        raise ValueError("the name of the machine has a '/' in it")
    try:
        with open(str(path).replace("%s", minion_id), encoding="utf-8") as found:
            return _yaml(found.read(MOST))
    except FileNotFoundError:
        return {}


SOURCES: dict[str, Callable[[str, object], object]] = {
    "cmd_yaml": cmd_yaml,
    "cmd_json": cmd_json,
    "file": file,
}


def external(name: str, given: object, minion_id: str) -> Mapping[object, object]:
    """What a source of this table gives. Raises ``PillarError``, which quotes nothing of the data."""
    try:
        found = SOURCES[name](minion_id, given)
    except (OSError, ValueError, subprocess.SubprocessError) as problem:
        raise _wrong(name, _reason(problem)) from None
    except Exception as problem:
        raise _wrong(name, f"what it gave cannot be read ({type(problem).__name__})") from None
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise _wrong(name, f"it gave {type(found).__name__}, not a dictionary")
    return found


def _reason(problem: Exception) -> str:
    if isinstance(problem, subprocess.TimeoutExpired):
        return f"it took longer than {LIMIT:.0f} seconds"
    return problem.strerror or str(problem) if isinstance(problem, OSError) else str(problem)


def _wrong(name: str, why: str) -> PillarError:
    what = f"ext_pillar {name!r} failed: {why}"
    return PillarError(
        Diagnostic(code="ext-pillar", what=what, fix="run the command, or look at the file, by hand")
    )
