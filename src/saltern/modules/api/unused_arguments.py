"""Warnings about arguments that a state accepts, as in Salt, but does not use."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from saltern.language.diagnostics import did_you_mean


def unused_warnings(
    rest: Mapping[str, object], meaningless: Collection[str], known: Iterable[str] = ()
) -> tuple[str, ...]:
    """A warning for each argument, with a suggestion from ``known``; none for ``meaningless`` ones."""
    listed = tuple(known)
    return tuple(
        f"argument {name!r} has no effect here" + (f"; {hint}" if hint else "")
        for name in rest
        if name not in meaningless and not name.startswith("__")
        for hint in (did_you_mean(name, listed) if listed else "",)
    )
