"""How this program starts itself: by absolute paths, and never with code from the current directory."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, MutableMapping, Sequence

PATH, PLACE = "PYTHONPATH", "SALTERN_PLACE"
OPTIONS = ("-P",)  # without it, ``python -m`` looks for modules in the current directory first


def command(module: str, words: Sequence[str] = (), *, python: str = "") -> list[str]:
    """The argv of a module of ours; ``python`` is that of another build."""
    return [python or sys.executable, *OPTIONS, "-m", module, *words]


_continuation: tuple[str, tuple[str, ...]] | None = None


def continue_as(module: str, words: Sequence[str]) -> None:
    """Say how a run of this process continues in another build, where `saltern resume` is not the way."""
    global _continuation
    _continuation = (module, tuple(words))


def continuation(run: str, options: Sequence[str], *, python: str) -> list[str]:
    """The argv with which another build continues a run of this process: ``options`` are those of `saltern
    resume`, or a whole command of its own, such as that of the chain which the run is part of."""
    is_command = bool(options) and not options[0].startswith("-")
    own = tuple(options) if is_command else ("resume", run, *options)
    module, words = _continuation or ("saltern", own)
    return command(module, words, python=python)


def take_place(env: MutableMapping[str, str]) -> str:
    """Take out of an environment where this program's own files are, if Python does not find them by itself:
    the programs that states start must not import our libraries.
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
    """Say where the files of this program are, for the processes that are us again."""
    global _place
    _place = place


def environment(without: Sequence[str] = (), **more: str) -> dict[str, str]:
    """Ours, for a process that is us again: without what would lead Python to the current directory."""
    found = environment_of_another(without, **more)
    if _place:
        found |= {PLACE: _place, PATH: os.pathsep.join([_place, *filter(None, [found.get(PATH)])])}
    return found


def environment_of_another(without: Sequence[str] = (), **more: str) -> dict[str, str]:
    """The same for a process that is another build, which has files of its own."""
    found = {name: value for name, value in os.environ.items() if name not in without}
    return _with_safe_path(found | more)


def _with_safe_path(env: Mapping[str, str]) -> dict[str, str]:
    """An empty or relative entry of PYTHONPATH is the current directory, or below it."""
    found = dict(env)
    if PATH in found:
        kept = [one for one in found[PATH].split(os.pathsep) if os.path.isabs(one)]
        del found[PATH]
        if kept:
            found[PATH] = os.pathsep.join(kept)
    return found


def leave_current_directory() -> None:
    """``python -m saltern`` puts the current directory first on the path: take it off again."""
    if sys.flags.safe_path or not sys.path:
        return
    try:
        here = os.getcwd()
    except OSError:  # it is gone: nothing can be imported from it
        here = ""
    if sys.path[0] in ("", here):
        del sys.path[0]
