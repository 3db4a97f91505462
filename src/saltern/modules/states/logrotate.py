"""``logrotate``: settings of logrotate.conf."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import one_line
from saltern.modules.lib.tables import logrotate

USUAL = logrotate.USUAL


@state(name="set")
def set_(
    ctx: Context,
    name: str,  # noqa: ARG001 - a name for the report only
    *,
    key: str,
    value: object,
    setting: object = None,
    conf_file: str = USUAL,
) -> Result:
    """Set a value in logrotate.conf, at its top or in the block of a file.

    Args:
        name: the name in the report.
        key: the setting; or the path of a block, if ``setting`` is given.
        value: its value, or true for a setting without one; in a block, the name of the setting.
        setting: the value in the block, or true for a setting without one.
        conf_file: the file.

    Example:
        ```yaml
        keep-a-year:
          logrotate.set:
            - key: rotate
            - value: 52
        ```
    """
    block = key if setting is not None else ""
    word = one_line(str(value) if block else key, "the setting", without="{}")
    wanted = _text(setting if block else value)

    def now() -> object:
        return logrotate.values(ctx.host.read(conf_file) or "", block).get(word)

    def act(_: Changes) -> None:
        text = ctx.host.read(conf_file) or ""
        ctx.host.write(conf_file, logrotate.with_value(text, block, word, wanted))

    before = now()
    return bring(
        ctx,
        lambda: {} if now() == wanted else {"old": before, "new": wanted},
        act,
        facts=lambda: {"file": conf_file, "block": block, "key": word, "value": now()},
        words=Words(f"{word} is {wanted}", f"{word} would be set to {wanted}", f"{word} was set to {wanted}"),
    )


def _text(value: object) -> str:
    """The value as text; empty for a setting without one."""
    return "" if value is True else one_line(str(value), "the value", without="{}")
