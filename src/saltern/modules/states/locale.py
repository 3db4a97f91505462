"""``locale``: the locale of this machine, and those that are available."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.tables import locales


@state
def system(ctx: Context, name: str) -> Result:
    """Set the locale of the machine.

    Args:
        name: the locale, such as ``de_DE.UTF-8``.

    Example:
        ```yaml
        de_DE.UTF-8:
          locale.system: []
        ```
    """
    locales.check_name(name)
    return bring(
        ctx,
        lambda: {} if locales.current(ctx) == name else {"locale": name},
        lambda _: locales.set_current(ctx, name),
        facts=lambda: {"locale": locales.current(ctx)},
        words=Words(
            f"The system locale is {name}",
            f"The system locale would be set to {name}",
            f"The system locale was set to {name}",
        ),
    )


@state
def present(ctx: Context, name: str) -> Result:
    """Make sure that a locale is available.

    Args:
        name: the locale, such as ``de_DE.UTF-8``.

    Example:
        ```yaml
        de_DE.UTF-8:
          locale.present: []
        ```
    """
    locales.check_name(name)
    return bring(
        ctx,
        lambda: {} if locales.is_available(ctx, name) else {"locale": name},
        lambda _: locales.generate(ctx, name),
        facts=lambda: {"name": name, "available": locales.is_available(ctx, name)},
        words=Words(
            f"Locale {name} is present", f"Locale {name} would be generated", f"Locale {name} was generated"
        ),
    )
