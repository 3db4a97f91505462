"""``sysctl``: kernel parameters."""

from __future__ import annotations

import os

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused, one_line
from saltern.modules.lib.tables import settings, sysctl


@state
def present(ctx: Context, name: str, *, value: object, config: str | None = None) -> Result:
    """Set a kernel parameter, now and at boot.

    Args:
        name: the parameter.
        value: its value.
        config: the file that keeps it across reboots; /etc/sysctl.d/99-salt.conf with systemd,
            /etc/sysctl.conf without.

    Example:
        ```yaml
        net.ipv4.ip_forward:
          sysctl.present:
            - value: 1
        ```
    """
    if isinstance(value, dict | list) or value is None:
        raise Refused("value needs a number or a text")
    wanted = one_line(sysctl.normal(value), "value")
    file = config or sysctl.usual_config()
    sysctl.path_of(name)

    def kept_value() -> str | None:
        found = settings.values(settings.read(ctx, file)).get(name)
        return None if found is None else sysctl.normal(found)

    def differs() -> Changes:
        return {} if (sysctl.running_value(name), kept_value()) == (wanted, wanted) else {name: wanted}

    def act(_: Changes) -> None:
        if sysctl.running_value(name) != wanted:
            sysctl.assign(name, wanted)
        if kept_value() != wanted:
            ctx.host.makedirs(os.path.dirname(file))
            ctx.host.write(file, settings.with_value(settings.read(ctx, file), name, wanted))

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: {
            "name": name,
            "running": sysctl.running_value(name),
            "at boot": kept_value(),
            "config": file,
        },
        words=Words(
            f"Kernel parameter {name} is {wanted}",
            f"Kernel parameter {name} would be set to {wanted}",
            f"Kernel parameter {name} was set to {wanted}",
        ),
    )
