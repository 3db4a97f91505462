"""Texts that states collect for a file."""

from __future__ import annotations

from saltern.modules.api.context import Context

KEY = "file.accumulated"  # in the run's context: {file: {accumulator: [text, …]}}


Collected = dict[str, dict[str, list[object]]]


def collected_texts(ctx: Context, key: str = KEY) -> Collected:
    found = ctx.run.context.setdefault(key, {})
    assert isinstance(found, dict)
    return found


def collected_for(ctx: Context, path: str) -> dict[str, list[object]]:
    """The accumulators of one file. Costs nothing where there are none."""
    return collected_texts(ctx).get(path, {}) if KEY in ctx.run.context else {}
