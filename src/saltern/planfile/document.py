"""A plan file: the foreseen changes for people, the compiled states for the run, and what both rest on.

The file is JSON. Data that JSON cannot hold (keys that are numbers, bytes) is in ``compiled``, as
MessagePack. It contains arguments and pillar data, so only its owner may read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import DecodeError, Struct, ValidationError, convert, field, json, msgpack

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.forecast import Foreseen
from saltern.system.regular import read_regular

FORMAT = 1  # increase it when older files can no longer be applied
MARK = b'{"saltern_plan":'  # the start of a plan file


class Bases(Struct, frozen=True, kw_only=True):
    """Checksums of what a plan rests on, by name. ``salt`` keeps secrets from being guessed by their
    checksums.
    """

    salt: str
    sources: dict[str, str] = field(default_factory=dict)
    pillar: dict[str, str] = field(default_factory=dict)
    grains: dict[str, str] = field(default_factory=dict)


class Proposal(Struct, frozen=True, kw_only=True):
    """A plan. ``compiled`` is from ``pack_body``: request, settings, pillar, sources and plan."""

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


def pack_body(body: dict[str, object]) -> bytes:
    """Encode the body; bytes of an unrendered delayed block that are not text become escapes."""
    try:
        return msgpack.encode(body, enc_hook=str)
    except (UnicodeEncodeError, OverflowError):
        return msgpack.encode(_text(body), enc_hook=str)


def _text(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_text(key): _text(item) for key, item in value.items()}
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value)
    return [_text(item) for item in value] if isinstance(value, list | tuple) else value


class Body(Struct, frozen=True, kw_only=True):
    """The content of ``compiled``."""

    request: dict[str, object]
    settings: dict[str, object]
    pillar: dict[str, object]
    sources: dict[str, str]
    plan: dict[str, object]


def unpack_body(proposal: Proposal, path: str, texts: object = None) -> Body:
    """Decode the body, with the secrets that this process knows or that are in ``texts``. Raises
    ``OperationError`` for what this version did not write."""
    from saltern.planfile.conceal import reveal

    try:
        body = msgpack.decode(proposal.compiled, strict=False)
        return convert(reveal(body, proposal.bases.salt, texts), Body)
    except (ValidationError, DecodeError, ValueError, RecursionError) as problem:
        raise unreadable(path, str(problem)) from None


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Report any error within as a damaged plan: anyone can write a body, so it can fail in many ways."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ValidationError, RecursionError) as problem:
        raise unreadable(path, f"it is damaged: {type(problem).__name__}: {problem}") from None


def checksum(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()


def is_plan(path: str) -> bool:
    """True if a word on the command line is a plan file, not an SLS name."""
    try:
        return read_regular(path, len(MARK), follow=True) == MARK
    except (OSError, ValueError):
        return False


def save(path: str, proposal: Proposal) -> bytes:
    """Write the plan; return the bytes."""
    from saltern.report.output_file import write_output

    data = json.encode(proposal) + b"\n"
    write_output(path, data)
    return data


def load(path: str, data: bytes) -> Proposal:
    """Read a plan from the bytes of its file. Raises ``OperationError`` for what this version cannot
    apply.
    """
    try:
        version = json.decode(data, type=_Version).saltern_plan
        if version != FORMAT:
            raise unreadable(path, f"it has format {version}, and this version of saltern applies {FORMAT}")
        proposal = json.decode(data, type=Proposal)
    except (ValidationError, DecodeError, ValueError, RecursionError) as problem:
        raise unreadable(path, str(problem)) from None
    if checksum(proposal.compiled) != proposal.sum:
        raise unreadable(path, "its content was changed")
    return proposal


class _Version(Struct):
    saltern_plan: int


def unreadable(path: str, why: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="plan-unreadable",
            what=f"the plan {path!r} cannot be applied: {why}",
            fix=f"make a new plan: saltern plan -o {path}",
        )
    )
