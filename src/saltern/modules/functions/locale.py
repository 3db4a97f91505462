"""``locale``: languages, and the one this machine speaks."""

from __future__ import annotations

from saltern.modules.api import function
from saltern.modules.context import Context
from saltern.modules.tables import locales


@function
def list_avail(ctx: Context) -> list[str]:
    """The locales that can be used."""
    return locales.available(ctx)


@function
def avail(ctx: Context, locale: str) -> bool:
    """Whether a locale can be used."""
    return locales.is_available(ctx, locale)


@function
def get_locale(ctx: Context) -> str:
    """The locale of the machine."""
    return locales.current(ctx)


@function
def set_locale(ctx: Context, locale: str) -> bool:
    """Set the locale of the machine."""
    locales.set_current(ctx, locale)
    return True


@function
def gen_locale(ctx: Context, locale: str) -> bool:
    """Make a locale."""
    locales.generate(ctx, locale)
    return locales.is_available(ctx, locale)
