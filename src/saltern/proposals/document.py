"""A plan in a file: what is foreseen, for people; what was compiled, for the run; what both rest on.

The file is JSON. What JSON would bend (keys that are numbers, bytes) is in ``compiled``, as MessagePack.
It holds arguments and pillar data, so only its owner may read it.
"""

from __future__ import annotations

import os
from typing import Any

from msgspec import DecodeError, Struct, ValidationError, field, json, msgpack

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.foreseen import Foreseen

FORMAT = 1  # raise it when files of before can no longer be applied
MARK = b'{"saltern_plan":'  # how a file begins


class Bases(Struct, frozen=True, kw_only=True):
    """Sums of what a plan rests on, by name. ``salt`` keeps secrets from being guessed by their sums."""

    salt: str
    sources: dict[str, str] = field(default_factory=dict)
    pillar: dict[str, str] = field(default_factory=dict)
    grains: dict[str, str] = field(default_factory=dict)


class Proposal(Struct, frozen=True, kw_only=True):
    """``compiled`` is what ``packed`` made: request, settings, pillar, sources and plan."""

    saltern_plan: int
    version: str
    machine: str
    made: float
    asked: str
    totals: dict[str, int]
    states: list[Foreseen]
    bases: Bases
    compiled: bytes
    sum: str


def packed(body: dict[str, object]) -> bytes:
    return msgpack.encode(body, enc_hook=str)


def unpacked(proposal: Proposal) -> dict[str, Any]:
    body: dict[str, Any] = msgpack.decode(proposal.compiled, strict=False)
    return body


def summed(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()


def is_plan(path: str) -> bool:
    """Whether a word on the command line is a plan in a file, and not the name of an SLS."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MARK)) == MARK
    except (OSError, ValueError):
        return False


def save(path: str, proposal: Proposal) -> None:
    from saltern.system import files

    try:
        files.write(os.path.abspath(path), json.encode(proposal) + b"\n", files.Attributes(mode=0o600))
    except OSError as problem:
        what = f"the plan cannot be written to {path!r}: {problem.strerror or problem}"
        raise OperationError(Diagnostic(code="plan-unwritable", what=what)) from None


def load(path: str) -> Proposal:
    """Raises ``OperationError`` for what this version cannot apply."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        version = json.decode(data, type=_Version).saltern_plan
        if version != FORMAT:
            raise _unreadable(path, f"it has format {version}, and this version of saltern applies {FORMAT}")
        proposal = json.decode(data, type=Proposal)
    except OSError as problem:
        raise _unreadable(path, problem.strerror or str(problem)) from None
    except (ValidationError, DecodeError) as problem:
        raise _unreadable(path, str(problem)) from None
    if summed(proposal.compiled) != proposal.sum:
        raise _unreadable(path, "it is not what was written")
    return proposal


class _Version(Struct):
    saltern_plan: int


def _unreadable(path: str, why: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="plan-unreadable",
            what=f"the plan {path!r} cannot be applied: {why}",
            fix=f"make it anew: saltern plan -o {path}",
        )
    )
