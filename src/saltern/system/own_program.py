"""How this program starts itself: by absolute paths, never with code from the current directory."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, MutableMapping, Sequence

PATH, PLACE = "PYTHONPATH", "SALTERN_PLACE"
OPTIONS = ("-P",)  # without it, ``python -m`` looks for modules in the current directory first


def command(module: str, words: Sequence[str] = (), *, python: str = "") -> list[str]:
    """The command line that runs one of our modules; ``python`` is that of another build."""
    return [python or sys.executable, *OPTIONS, "-m", module, *words]


_continuation: tuple[str, tuple[str, ...]] | None = None


def continue_as(module: str, words: Sequence[str]) -> None:
    """Set how a run of this process continues in another build, if not by `saltern resume`."""
    global _continuation
    _continuation = (module, tuple(words))


def continuation(run: str, options: Sequence[str], *, python: str) -> list[str]:
    """The command line with which another build continues a run of this process: ``options`` are those of
    `saltern resume`, or a complete command, such as that of the chain which the run is part of.
    """
    is_command = bool(options) and not options[0].startswith("-")
    own = tuple(options) if is_command else ("resume", run, *options)
    module, words = _continuation or ("saltern", own)
    return command(module, words, python=python)


def take_place(env: MutableMapping[str, str]) -> str:
    """Remove the location of this program's own files from an environment, if Python needs it to find them:
    programs that states start must not import our libraries.
    """
    place = env.pop(PLACE, "")
    if place and PATH in env:
        rest = [one for one in env[PATH].split(os.pathsep) if one != place]
        env[PATH] = os.pathsep.join(rest)
        if not rest:
            del env[PATH]
    return place


_place = take_place(os.environ)


def run_from(place: str) -> None:
    """Set where the files of this program are, for further processes of this program."""
    global _place
    _place = place


def environment(without: Sequence[str] = (), **more: str) -> dict[str, str]:
    """Our environment for a further process of this program, without entries that make Python import from the
    current directory.
    """
    found = environment_of_another(without, **more)
    if _place:
        found |= {PLACE: _place, PATH: os.pathsep.join([_place, *filter(None, [found.get(PATH)])])}
    return found


def environment_of_another(without: Sequence[str] = (), **more: str) -> dict[str, str]:
    """The same for a process of another build, which has its own files."""
    found = {name: value for name, value in os.environ.items() if name not in without}
    return _with_safe_path(found | more)


def _with_safe_path(env: Mapping[str, str]) -> dict[str, str]:
    """The environment without empty or relative entries in PYTHONPATH, which mean the current directory or
    one below it.
    """
    found = dict(env)
    if PATH in found:
        kept = [one for one in found[PATH].split(os.pathsep) if os.path.isabs(one)]
        del found[PATH]
        if kept:
            found[PATH] = os.pathsep.join(kept)
    return found


def leave_current_directory() -> None:
    """Remove the current directory from the module path, where ``python -m saltern`` puts it first."""
    if sys.flags.safe_path or not sys.path:
        return
    try:
        here = os.getcwd()
    except OSError:  # it is gone: nothing can be imported from it
        here = ""
    if sys.path[0] in ("", here):
        del sys.path[0]
