"""``timezone``: the time zone of this machine."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.tables import clock


@state
def system(ctx: Context, name: str, *, utc: bool = True) -> Result:
    """Set the time zone of the machine.

    Args:
        name: the zone, such as ``Europe/Berlin``.
        utc: the hardware clock keeps UTC (true) or local time (false).

    Example:
        ```yaml
        Europe/Berlin:
          timezone.system:
            - utc: true
        ```
    """
    if not ctx.test:  # an earlier state may install tzdata
        clock.check_zone(name)
    wanted = "UTC" if utc else "localtime"

    def differs() -> Changes:
        changes: Changes = {} if clock.zone(ctx) == name else {"timezone": name}
        return {**changes, **({} if clock.hardware(ctx) == wanted else {"utc": utc})}

    def act(changes: Changes) -> None:
        if "timezone" in changes:
            clock.set_zone(ctx, name)
        if "utc" in changes:
            clock.set_hardware(ctx, wanted)

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: {"timezone": clock.zone(ctx), "utc": clock.hardware(ctx) == "UTC"},
        words=Words(
            f"The time zone is {name}, and the hardware clock keeps {wanted}",
            f"The time zone would be set to {name}, with {wanted} in the hardware clock",
            f"The time zone was set to {name}, with {wanted} in the hardware clock",
        ),
    )
