"""A problem without secrets, for callers that format problems themselves."""

from __future__ import annotations

from msgspec.structs import replace

from saltern.language import secrets
from saltern.language.diagnostics import Diagnostic


def masked_problem(one: Diagnostic) -> Diagnostic:
    """The problem with secrets masked; its place in a file stays."""
    if not secrets.known():
        return one
    return replace(
        one,
        what=secrets.mask(one.what),
        fix=secrets.mask(one.fix),
        detail=secrets.mask(one.detail),
        also=tuple((secrets.mask(note), mark) for note, mark in one.also),
    )
