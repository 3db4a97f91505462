"""The option ``master_tops``: SLS for this machine from a command (``ext_nodes``) or modules in ``_tops``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.compat.adapt import SaltFunction
from saltern.language.diagnostics import SalternError
from saltern.language.source import Mark, Path

if TYPE_CHECKING:
    from saltern.compat.library import Library
    from saltern.language.diagnostics import Diagnostics

Tops = dict[str, list[str]]  # env → SLS
LONGEST = 300.0  # seconds that the command may take


class Configuration(Struct, frozen=True):
    """The origin of states from the configuration, in place of a top file."""

    file: str
    data: object = None

    def mark(self, path: Path = ()) -> Mark:  # noqa: ARG002 - where in it is not known
        return Mark(self.file or "master_tops")


class _Problem(Exception):
    """A source of top data failed; the text says why."""


def master_tops(
    library: Library, wanted: object, minion_id: str, where: Configuration, found: Diagnostics
) -> Tops:
    """The top data of all sources, in their order; a source that fails is an error."""
    if not isinstance(wanted, Mapping):
        what = f"master_tops needs a mapping of sources, not {type(wanted).__name__}"
        found.error("master-tops", what, where=where.mark())
        return {}
    result: Tops = {}
    for name, given in wanted.items():
        try:
            answer = _ask_source(library, str(name), given, minion_id)
        except _Problem as problem:
            what = f"the source {str(name)!r} of master_tops {problem}"
            found.error(
                "master-tops", what, where=where.mark(), fix="correct it, or remove it from master_tops"
            )
            continue
        for env, some in answer.items():
            result[env] = list(dict.fromkeys([*result.get(env, []), *some]))
    return result


def _ask_source(library: Library, name: str, given: object, minion_id: str) -> Tops:
    function = library.own.member("tops", f"{name}.top")
    if function is None and name == "ext_nodes":
        return _from_classes(_command_output(library, str(given), minion_id))
    function = function or library.installed.member("tops", f"{name}.top")
    if not isinstance(function, SaltFunction):
        why = library.own.why("tops", name) or library.installed.why("tops", name)
        raise _Problem(f"is not known: {why or 'put it in _tops of a file root'}")
    ctx = library.call().ctx
    try:
        answer: object = function.body(ctx, opts=ctx.opts, grains=ctx.grains)
    except Exception as problem:
        raise _Problem(f"failed: {type(problem).__name__}: {problem}") from None
    return _check_tops(answer)


def _command_output(library: Library, command: str, minion_id: str) -> object:
    """The output of the command for this machine, as data."""
    from saltern.render.yaml import parse

    try:
        ran = library.call().ctx.host.run([*shlex.split(command), minion_id], timeout=LONGEST)
        if ran.code != 0:
            raise _Problem(f"failed: {command!r} ended with {ran.code}: {ran.err.strip()[-300:]}")
        return parse(ran.out, command)
    except (OSError, ValueError, SalternError) as problem:
        raise _Problem(f"failed: {command!r}: {problem}") from None


def _from_classes(printed: object) -> Tops:
    """``classes`` is a list, or a mapping whose keys count; ``environment`` is base if it is not named."""
    if printed is None:
        return {}
    if not isinstance(printed, Mapping):
        raise _Problem(f"returned {type(printed).__name__}, not a mapping with 'classes'")
    classes = printed.get("classes") or []
    return _check_tops(
        {printed.get("environment") or "base": list(classes) if isinstance(classes, Mapping) else classes}
    )


def _check_tops(answer: object) -> Tops:
    if answer is None:
        return {}
    if not isinstance(answer, Mapping):
        raise _Problem(f"returned {type(answer).__name__}, not a mapping from environments to lists of SLS")
    for env, some in answer.items():
        if not isinstance(some, list | tuple) or not all(isinstance(one, str) for one in some):
            raise _Problem(f"returned no list of SLS for the environment {str(env)!r}")
    return {str(env): list(some) for env, some in answer.items() if some}
