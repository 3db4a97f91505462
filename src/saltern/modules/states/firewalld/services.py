"""``firewalld.service``: define a service."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.firewalls import firewalld
from saltern.modules.lib.firewalls.zone_values import missing_values

OPTIONS = {"ports": "port", "protocols": "protocol"}


@state
def service(
    ctx: Context, name: str, *, ports: list[str] | None = None, protocols: list[str] | None = None
) -> Result:
    """Make sure that a service has exactly these ports and protocols, permanently; then load it.

    Args:
        name: the service; created if it is missing.
        ports: its ports, such as ``8080/tcp``.
        protocols: its protocols, such as ``gre``.

    Example:
        ```yaml
        saltmaster:
          firewalld.service:
            - ports: [4505/tcp, 4506/tcp]
        ```
    """
    firewalld.check_name(name, "a service")
    given = {"ports": ports or [], "protocols": protocols or []}
    wanted = {key: [firewalld.value(one, key) for one in some] for key, some in given.items()}
    daemon = firewalld.reach(ctx)

    seen: list[dict[str, list[str]] | None] = []  # as last read

    def differs() -> Changes:
        seen.append(firewalld.service(ctx, daemon, name))
        now = seen[-1] or {}
        changes: Changes = {} if seen[-1] is not None else {"service": {"old": None, "new": name}}
        for key, values in wanted.items():
            have = now.get(key, [])
            if missing_values(key, values, have) or missing_values(key, have, values):
                changes[key] = {"old": have, "new": values}
        return changes

    def act(changes: Changes) -> None:
        if "service" in changes:
            daemon.permanent(ctx, f"--new-service={name}")
        for key, option in OPTIONS.items():
            have = (seen[-1] or {}).get(key, [])
            surplus = missing_values(key, have, wanted[key])
            left = [one for one in have if one not in surplus]
            for verb, which in (("remove", surplus), ("add", missing_values(key, wanted[key], left))):
                if which:
                    options = [f"--{verb}-{option}={one}" for one in which]
                    daemon.permanent(ctx, f"--service={name}", *options)
        daemon.reload(ctx)

    def facts() -> Changes:
        known: Changes = {"service": name, "exists": seen[-1] is not None, "running": daemon.running}
        return known | (seen[-1] or {})

    return bring(
        ctx,
        differs,
        act,
        facts=facts,
        words=Words(
            f"'{name}' is already in the desired state.",
            f"Configuration for '{name}' will change.",
            f"'{name}' was configured.",
        ),
    )
