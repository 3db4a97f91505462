"""``locale``: the locale of this machine, and those that are available."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.tables import locales


@function
def list_avail(ctx: Context) -> list[str]:
    """The available locales.

    Example:
        ```console
        $ saltern call locale.list_avail
        local:
        …
            - POSIX
        …
        ```
    """
    return locales.available(ctx)


@function
def avail(ctx: Context, locale: str) -> bool:
    """True if a locale is available.

    Example:
        ```console
        $ saltern call locale.avail C.UTF-8
        local:
            True
        ```
    """
    return locales.is_available(ctx, locale)


@function
def get_locale(ctx: Context) -> str:
    """The locale of the machine.

    Example:
        ```console
        $ saltern call locale.get_locale
        ```
    """
    return locales.current(ctx)


@function
def set_locale(ctx: Context, locale: str) -> bool:
    """Set the locale of the machine.

    Example:
        ```console
        $ saltern call locale.set_locale de_DE.UTF-8
        local:
            True
        ```
    """
    locales.set_current(ctx, locale)
    return True


@function
def gen_locale(ctx: Context, locale: str) -> bool:
    """Generate a locale.

    Example:
        ```console
        $ saltern call locale.gen_locale de_DE.UTF-8
        local:
            True
        ```
    """
    locales.generate(ctx, locale)
    return locales.is_available(ctx, locale)
