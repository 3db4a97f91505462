"""``data``: values kept for the length of a run.

Salt keeps them on the minion for good; here nothing outlives the run that set it.
"""

from __future__ import annotations

from saltern.modules.api import function
from saltern.modules.context import Context
from saltern.modules.functions._data import fresh


def _kept(ctx: Context) -> dict[str, object]:
    kept = ctx.run.context.setdefault("data", {})
    assert isinstance(kept, dict)
    return kept


@function
def get(ctx: Context, key: str, default: object = None) -> object:
    """The value of a key, or the default."""
    return fresh(_kept(ctx).get(key, default))


@function
def update(ctx: Context, key: str, value: object) -> bool:
    """Keep a value."""
    _kept(ctx)[key] = value
    return True


@function
def pop(ctx: Context, key: str, default: object = None) -> object:
    """The value of a key, which is not kept any longer."""
    return _kept(ctx).pop(key, default)


@function
def has_key(ctx: Context, key: str) -> bool:
    """Whether a value is kept under this key."""
    return key in _kept(ctx)


@function
def items(ctx: Context) -> object:
    """Everything that is kept."""
    return fresh(_kept(ctx))


@function
def clear(ctx: Context) -> bool:
    """Forget everything."""
    _kept(ctx).clear()
    return True
