"""Run ``firewall-cmd`` for the functions of ``firewalld``."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.lib.firewalls import firewalld


def ask(ctx: Context, *args: str, permanent: bool) -> str:
    """The output of firewalld; raises ``Refused`` with its error message."""
    daemon = firewalld.reach(ctx)
    return daemon.permanent(ctx, *args) if permanent else daemon.now(ctx, *args)


def of_zone(zone: str | None) -> list[str]:
    return [f"--zone={firewalld.check_name(zone, 'a zone')}"] if zone else []


def reload_if(ctx: Context, wanted: bool) -> None:
    if wanted:
        firewalld.reach(ctx).reload(ctx)
