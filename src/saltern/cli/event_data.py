"""The data of an event as a person types it: YAML, or ``name=value`` words."""

from __future__ import annotations

from typing import Any

from saltern.cli.values import call_arguments
from saltern.language.diagnostics import Diagnostic, OperationError


def data_of(words: list[str]) -> dict[str, Any]:
    """The data of an event. Raises ``OperationError`` if it is not a mapping."""
    args, keywords = call_arguments(words)
    data: dict[str, Any] = {}
    for one in args:
        if not isinstance(one, dict):
            what = f"the data of an event is a mapping, not {one!r}"
            fix = "write it as YAML, such as '{version: 7}', or as version=7"
            raise OperationError(Diagnostic(code="option-shape", what=what, fix=fix))
        data |= {str(key): value for key, value in one.items()}
    return {**data, **keywords}
