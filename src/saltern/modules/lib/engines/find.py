"""Find the program of another engine: by the state, by the configuration, or on PATH."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused


def find(ctx: Context, program: str, *, engine: str, install: str, bin_dir: str | None = None) -> str:
    """The path of the program; raises ``Refused`` if there is none, with what to install."""
    found = search(ctx, program, engine=engine, install=install, bin_dir=bin_dir)
    if isinstance(found, Refused):
        raise found
    return found


def search(
    ctx: Context, program: str, *, engine: str, install: str, bin_dir: str | None = None
) -> str | Refused:
    """The path of the program, or what ``find`` raises.

    The configuration says where engines are, ``engines: {ansible: /opt/ansible/bin}``: a directory, an
    environment with a ``bin`` in it, or the program itself. ``bin_dir`` of a state overrides it. A directory
    that is given and lacks the program is an error: another program on PATH is not what was meant.
    """
    named = bin_dir or configured_path(ctx, engine)
    places = list(_candidate_paths(os.path.expanduser(named), program) if named else _on_path(program))
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    where = f"in {named}" if named else "on PATH"
    return Refused(
        f"{program} was not found {where}: install it ({install}), or give its directory with bin_dir, "
        f"or with `engines: {{{engine}: DIRECTORY}}` in the configuration",
        data={"engine": engine, "program": program},
    )


def configured_path(ctx: Context, engine: str) -> str:
    """The path of an engine in the configuration; Salt's key with this name is a list, which is ignored."""
    engines = ctx.settings.extra.get("engines")
    place = engines.get(engine) if isinstance(engines, Mapping) else None
    return place if isinstance(place, str) else ""


def _candidate_paths(place: str, program: str) -> Iterator[str]:
    yield os.path.join(place, program)
    yield os.path.join(place, "bin", program)
    if os.path.basename(place) == program:
        yield place


def _on_path(program: str) -> Iterator[str]:
    for place in os.environ.get("PATH", os.defpath).split(os.pathsep):
        yield os.path.join(place or ".", program)


def interpreter(program: str) -> list[str]:
    """The Python of a program, with its options, from its first line; else that of its environment."""
    real = os.path.realpath(program)
    with open(real, "rb") as file:
        first = file.readline(4096).decode("utf-8", "replace")
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    if words and os.path.basename(words[0]) == "env":
        words = words[1:]
    if words and os.path.basename(words[0]).startswith(("python", "pypy")):
        return words
    return [os.path.join(os.path.dirname(real), "python3")]
