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
        value: its value, true for a setting without one, or false to remove it; in a block, the name of the
            setting.
        setting: the value in the block, or true or false as above.
        conf_file: the file; a block of a file in a directory that it includes is changed there.

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
    wanted = logrotate.text_of(setting if block else value)
    place = logrotate.place_of(ctx, conf_file, block)

    def now() -> str | None:
        return logrotate.values(ctx.host.read(place) or "", block).get(word)

    def act(_: Changes) -> None:
        text = ctx.host.read(place) or ""
        ctx.host.write(place, logrotate.with_value(text, block, word, wanted))

    before = now()
    return bring(
        ctx,
        lambda: {} if now() == wanted else {"old": _shown_value(before), "new": _shown_value(wanted)},
        act,
        facts=lambda: {"file": place, "block": block, "key": word, "value": now()},
        words=_words(word, wanted),
    )


def _words(word: str, wanted: str | None) -> Words:
    if wanted is None:
        return Words(f"{word} is not set", f"{word} would be removed", f"{word} was removed")
    value = wanted or "on"
    return Words(f"{word} is {value}", f"{word} would be set to {value}", f"{word} was set to {value}")


def _shown_value(value: str | None) -> object:
    return False if value is None else value or True
