"""``selinux.mode``: whether SELinux enforces its policy."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.selinux import mode as modes


@state
def mode(ctx: Context, name: str) -> Result:
    """Set the mode of SELinux, now and at boot.

    SELinux can be switched off, or on again, only by a reboot. Then the configuration is changed, the closest
    possible mode is set until the reboot, and there is a warning.

    Args:
        name: ``enforcing``, ``permissive`` or ``disabled``.

    Example:
        ```yaml
        enforcing:
          selinux.mode: []
        ```
    """
    wanted = modes.read_mode(name)

    def differs() -> Changes:
        now, kept = modes.running_mode(ctx), modes.at_boot(ctx)
        if now != modes.reachable(ctx, wanted):
            return {"old": now, "new": wanted}
        return {} if kept == wanted else {"old": kept, "new": wanted}

    def act(_: Changes) -> None:
        modes.keep(ctx, wanted)
        modes.switch(ctx, wanted)

    later = modes.reachable(ctx, wanted) != wanted
    return bring(
        ctx,
        differs,
        act,
        facts=lambda: {"running": modes.running_mode(ctx), "at boot": modes.at_boot(ctx)},
        words=Words(
            f"SELinux is already in {wanted} mode",
            f"SELinux would be set to {wanted} mode",
            f"SELinux was set to {wanted} mode",
        ),
        warnings=(f"SELinux is {modes.running_mode(ctx).lower()}; it is {wanted.lower()} after a reboot",)
        if later
        else (),
    )
