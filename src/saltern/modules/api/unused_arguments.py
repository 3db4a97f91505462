"""Remarks on arguments that a state takes, as Salt does, but has no use for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from saltern.language.diagnostics import did_you_mean


def unused(
    rest: Mapping[str, object], meaningless: Collection[str], known: Iterable[str] = ()
) -> tuple[str, ...]:
    """A remark on each, with the one of ``known`` that may be meant; none on what is ``meaningless`` here."""
    listed = tuple(known)
    return tuple(
        f"argument {name!r} has no effect here" + (f"; {hint}" if hint else "")
        for name in rest
        if name not in meaningless and not name.startswith("__")
        for hint in (did_you_mean(name, listed) if listed else "",)
    )
