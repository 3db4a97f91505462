"""``cron.env_present`` and ``cron.env_absent``: variables of a crontab."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused, one_line
from saltern.modules.lib.tables import crontab
from saltern.modules.lib.tables.crontab import Crontab
from saltern.modules.states.cron.comments import words_for


@state
def env_present(ctx: Context, name: str, *, value: str | None = None, user: str = "root") -> Result:
    """Make sure that a variable is set in the crontab of a user.

    Args:
        name: the variable.
        value: its value; without one, the variable is empty.
        user: the user whose crontab is meant.

    Example:
        ```yaml
        MAILTO:
          cron.env_present:
            - value: ops@example.org
        ```
    """
    text = one_line(value or "", "value").strip()
    text = "" if text == crontab.EMPTY else text
    if crontab.VARIABLE.fullmatch(f"{name}=") is None:
        raise Refused(f"{name!r} cannot be the name of a variable")

    def table() -> Crontab:
        return crontab.parse(crontab.read(ctx, user))

    return bring(
        ctx,
        lambda: {} if table().variables.get(name) == text else {user: name},
        lambda _: crontab.write(ctx, user, table().with_variable(name, text).text()),
        facts=lambda: {"user": user, "name": name, "value": table().variables.get(name)},
        words=words_for(f"Cron variable {name}", "is set", "set"),
    )


@state
def env_absent(ctx: Context, name: str, *, user: str = "root") -> Result:
    """Make sure that a variable is not set in the crontab of a user.

    Args:
        name: the variable.
        user: the user whose crontab is meant. A user that no longer exists has none.

    Example:
        ```yaml
        MAILTO:
          cron.env_absent: []
        ```
    """

    def table() -> Crontab:
        return crontab.parse(crontab.read_any(ctx, user))

    return bring(
        ctx,
        lambda: {user: name} if name in table().variables else {},
        lambda _: crontab.write(ctx, user, table().without_variable(name).text()),
        facts=lambda: {"user": user, "name": name, "value": table().variables.get(name)},
        words=words_for(f"Cron variable {name}", "is not set", "removed"),
    )
