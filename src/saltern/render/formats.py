"""Data formats besides YAML: JSON, TOML, MessagePack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import DecodeError

from saltern.language import numbers
from saltern.language.diagnostics import CompileError, Diagnostic
from saltern.language.source import Mark

if TYPE_CHECKING:
    from saltern.render.document import Job


def json(text: str, job: Job) -> object:
    import json as stdlib_json

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        result = dict(pairs)
        if len(result) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise stdlib_json.JSONDecodeError(
                f"the key {twice!r} is defined twice in one object", text, max(text.rfind(f'"{twice}"'), 0)
            )
        return result

    try:
        return stdlib_json.loads(text, object_pairs_hook=unique)
    except stdlib_json.JSONDecodeError as problem:
        raise _bad(
            "json-syntax", f"not JSON: {problem.msg}", Mark(job.file, problem.lineno, problem.colno)
        ) from None
    except ValueError as problem:
        if numbers.was_refused(problem):
            raise _too_long(text, job) from None
        raise _bad("json-syntax", f"not JSON that can be read: {problem}", Mark(job.file)) from None
    except RecursionError:
        raise _bad("json-too-deep", "not JSON that can be read: nested too deep", Mark(job.file)) from None


def toml(text: str, job: Job) -> object:
    import re
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as problem:
        if numbers.was_refused(problem):
            raise _too_long(text, job) from None
        at = re.search(r"line (\d+), column (\d+)", str(problem))
        where = Mark(job.file, int(at[1]), int(at[2])) if at else Mark(job.file)
        said = str(problem).partition(" (at ")[0]
        raise _bad("toml-syntax", f"not TOML: {said}", where) from None


def msgpack(text: str, job: Job) -> object:
    """Read MessagePack, as bytes or in base64 (state files are text)."""
    import base64
    import binascii

    from msgspec.msgpack import decode

    body = text.strip()
    try:
        packed = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        packed = text.lstrip("\n").encode("utf-8", "surrogateescape")
    try:
        return decode(packed)
    except (DecodeError, RecursionError) as problem:
        raise _bad("msgpack-syntax", f"not MessagePack: {problem}", Mark(job.file)) from None


def _too_long(text: str, job: Job) -> CompileError:
    line, column, length = numbers.written_in(text)
    where = Mark(job.file, line, column)
    return CompileError(
        Diagnostic(code="number-too-long", what=numbers.what(length), where=where, fix=numbers.FIX)
    )


def _bad(code: str, what: str, where: Mark) -> CompileError:
    return CompileError(Diagnostic(code=code, what=what, where=where))
