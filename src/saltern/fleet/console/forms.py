"""Reads a form, within limits. Only URL-encoded forms: the console takes no files."""

from __future__ import annotations

from math import isfinite
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from saltern.fleet.api.problems import ApiError
from saltern.fleet.api.requests import read_bytes
from saltern.language.diagnostics import Diagnostic
from saltern.render.yaml_limits import YamlProblem

KIND = "application/x-www-form-urlencoded"


async def read_fields(request: Request, most: int) -> dict[str, list[str]]:
    """Each field with its values."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != KIND:
        raise _refusal(415, f"the form was sent as {kind[:60]!r}")
    data = await read_bytes(request)
    try:
        pairs = parse_qsl(data.decode(), keep_blank_values=True, max_num_fields=most, errors="strict")
    except (ValueError, UnicodeDecodeError):
        raise _refusal(400, "the form cannot be read") from None
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def _refusal(status: int, what: str) -> ApiError:
    return ApiError(
        status, Diagnostic(code="console-form", what=what, fix="send it from a page of the console")
    )


def number_of(text: str) -> Any:
    """A number, or the text itself, which the API then refuses with a reason."""
    try:
        number = float(text)
    except ValueError:
        return text
    return number if isfinite(number) else text


def yaml_of(text: str) -> Any:
    """A value written as YAML, or the text itself."""
    from saltern.render.yaml import read

    try:
        return read(text)
    except YamlProblem:
        return text


def whole_of(text: str) -> Any:
    """A whole number, or the text itself."""
    number = number_of(text)
    return int(number) if isinstance(number, float) and number.is_integer() else text
