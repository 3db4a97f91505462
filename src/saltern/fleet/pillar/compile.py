"""Compiles the pillar of one system, with the engine's own code and the stored facts of the system.

Nothing here uses the network or the database. Problems contain a location and a code, and quote nothing from
a file: they go to the system that asked, and into logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from saltern.config.settings import Settings
from saltern.engine.nested_engine import make_session
from saltern.facts.grains import Grains
from saltern.fleet.pillar.grain_targets import unpinned_grains
from saltern.language import secrets
from saltern.language.diagnostics import Diagnostic, SalternError
from saltern.language.secret_pillar import packed_secrets

# Problems whose text names files, IDs and shapes, and never a value.
PLAIN = frozenset(
    ("sls-not-found", "sls-not-mapping", "include-not-list", "root-unreadable", "top-shape", "top-not-list")
)


class PillarTask(Struct, frozen=True, kw_only=True):
    """The inputs of a pillar."""

    id: str
    grains: dict[str, Any] = {}
    pinned: dict[str, Any] = {}
    overrides: dict[Any, Any] = {}
    environment: str = ""
    options: dict[str, Any] = {}
    extra: dict[str, Any] = {}


class PillarResult(Struct, frozen=True, kw_only=True):
    """``data`` is the pillar as msgpack; without it, ``problem`` says why there is none."""

    data: bytes = b""
    problem: str = ""
    warnings: list[str] = []


def compile_pillar(task: PillarTask) -> PillarResult:
    """The pillar of a system, or why it has none."""
    grains = {**task.grains, **task.pinned, "id": task.id}
    secrets.forget()  # modules of the previous system
    try:
        settings = Settings(id=task.id, pillarenv=task.environment or None, extra=task.extra, **task.options)
        session = make_session(settings, task.overrides, grains=Grains(settings, lambda: grains, ()))
        session.grains.clear()  # custom grains of the tree are those of this machine
        session.grains.update(grains)
        session.load_pillar()
        unpinned = unpinned_grains(session, task.pinned)
        data = msgspec.msgpack.encode({**session.pillar, **packed_secrets()}, enc_hook=_refuse)
    except SalternError as problem:
        return PillarResult(problem=problem_lines(problem.diagnostics))
    except _Unsendable as problem:
        return PillarResult(problem=f"it holds a value of the type {problem}, which cannot be sent")
    return PillarResult(data=data, warnings=[*unpinned, *(place_of(one) for one in session.warnings)])


class _Unsendable(Exception):
    """A value that is neither text, number, list nor mapping."""


def _refuse(value: object) -> object:
    if isinstance(value, set | frozenset | tuple):
        return sorted(value, key=str) if isinstance(value, set | frozenset) else list(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise _Unsendable(type(value).__name__)


def problem_lines(problems: Iterable[Diagnostic]) -> str:
    """Each problem by its place and code."""
    return "; ".join(dict.fromkeys(map(place_of, problems)))


def place_of(problem: Diagnostic) -> str:
    """The location and the code; for a source outside the files also its name."""
    what = f" {problem.what}" if problem.code in PLAIN else ""
    if named := re.match(r"ext_pillar '[^']*'", problem.what):
        what = f" {named[0]} failed"
    where = f"{problem.where}:" if problem.where else "the pillar:"
    return f"{where}{what} [{problem.code}]"


SECRET_OPTIONS = ("gpg_keydir", "gpg_decrypt_must_succeed", "sops_age_key_file")


def engine_options(config: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the engine in a controller's ``pillar_config``."""
    return {name: value for name, value in config.items() if name in SECRET_OPTIONS}


def extra_options(config: Mapping[str, Any], sources: list[Any]) -> dict[str, Any]:
    """The rest of it, and the sources of ``ext_pillar``."""
    rest = {name: value for name, value in config.items() if name not in SECRET_OPTIONS}
    return {**rest, **({"ext_pillar": sources} if sources else {})}
