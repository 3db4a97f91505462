"""``logrotate``: settings of logrotate.conf."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.tables import logrotate


@function
def show_conf(ctx: Context, conf_file: str = logrotate.USUAL) -> dict[str, str]:
    """The settings outside of all blocks.

    Example:
        ```console
        $ saltern call logrotate.show_conf
        ```
    """
    return logrotate.values(ctx.host.read(conf_file) or "")


@function
def get(ctx: Context, key: str, value: str | None = None, conf_file: str = logrotate.USUAL) -> object:
    """The value of a setting, or of one in the block ``key``. False if it is not set.

    Example:
        ```console
        $ saltern call logrotate.get rotate
        local:
            4
        ```
    """
    text = ctx.host.read(logrotate.place_of(ctx, conf_file, key if value else "")) or ""
    found = logrotate.values(text, key).get(value) if value else logrotate.values(text).get(key)
    return found if found is not None else False


@function(name="set")
def set_(
    ctx: Context, key: str, value: object, setting: object = None, conf_file: str = logrotate.USUAL
) -> bool:
    """Set a value at the top, or in the block ``key``.

    Example:
        ```console
        $ saltern call logrotate.set rotate 52
        local:
            True
        ```
    """
    block, word = (key, str(value)) if setting is not None else ("", key)
    wanted = logrotate.text_of(setting if setting is not None else value)
    place = logrotate.place_of(ctx, conf_file, block)
    ctx.host.write(place, logrotate.with_value(ctx.host.read(place) or "", block, word, wanted))
    return True
