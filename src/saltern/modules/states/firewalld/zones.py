"""``firewalld.present`` and ``firewalld.bind``: zones and their contents."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.firewalls import firewalld
from saltern.modules.lib.firewalls.firewalld import KINDS, Daemon, Zone, value
from saltern.modules.lib.firewalls.zone_values import forward, forward_option, missing_values


class DesiredZone(Struct, frozen=True, kw_only=True):
    """The required contents of a zone; of the kinds in ``pruned``, nothing else is kept."""

    name: str
    lists: dict[str, list[str]]
    pruned: frozenset[str] = frozenset()
    masquerade: bool | None = None
    default: bool = False


@state
def present(
    ctx: Context,
    name: str,
    *,
    block_icmp: list[str] | None = None,
    prune_block_icmp: bool = False,
    default: bool | None = None,
    masquerade: bool | None = None,
    ports: list[str] | None = None,
    prune_ports: bool = False,
    port_fwd: list[str] | None = None,
    prune_port_fwd: bool = False,
    services: list[str] | None = None,
    prune_services: bool = False,
    interfaces: list[str] | None = None,
    prune_interfaces: bool = False,
    sources: list[str] | None = None,
    prune_sources: bool = False,
    rich_rules: list[str] | None = None,
    prune_rich_rules: bool = False,
) -> Result:
    """Make sure that a zone exists with these contents, permanently; then load it.

    If the daemon does not run, only its configuration is changed.

    Args:
        name: the zone; created if it is missing.
        block_icmp: types of ICMP to block.
        prune_block_icmp: remove all others.
        default: true makes it the default zone.
        masquerade: whether to masquerade; unchanged if not given.
        ports: ports to open, such as ``80/tcp`` or ``6000-6010/udp``.
        prune_ports: remove all others.
        port_fwd: ports to forward: ``22:2222:tcp``, or ``80:443:tcp:192.168.0.1`` to another address.
        prune_port_fwd: remove all others.
        services: services to allow.
        prune_services: remove all others.
        interfaces: interfaces of the zone.
        prune_interfaces: remove all others.
        sources: addresses, networks or ``ipset:…`` of the zone.
        prune_sources: remove all others.
        rich_rules: rules in firewalld's own language.
        prune_rich_rules: remove all others.

    Example:
        ```yaml
        shop:
          firewalld.present:
            - services: [http, https]
            - ports: [8080/tcp]
            - sources: [10.0.0.0/8]
            - masquerade: false
        ```
    """
    given = {
        "block_icmp": (block_icmp, prune_block_icmp),
        "ports": (ports, prune_ports),
        "port_fwd": (port_fwd, prune_port_fwd),
        "services": (services, prune_services),
        "interfaces": (interfaces, prune_interfaces),
        "sources": (sources, prune_sources),
        "rich_rules": (rich_rules, prune_rich_rules),
    }
    return _settle(ctx, _desired_zone(name, given, masquerade=masquerade, default=bool(default)))


@state
def bind(
    ctx: Context, name: str, *, interfaces: list[str] | None = None, sources: list[str] | None = None
) -> Result:
    """Make sure that exactly these interfaces and sources belong to a zone.

    Args:
        name: the zone; created if it is missing.
        interfaces: its interfaces; unchanged if not given.
        sources: its addresses, networks or ``ipset:…``; unchanged if not given.

    Example:
        ```yaml
        office:
          firewalld.bind:
            - sources: [192.168.7.0/24]
        ```
    """
    given = {"interfaces": (interfaces, interfaces is not None), "sources": (sources, sources is not None)}
    return _settle(ctx, _desired_zone(name, given))


def _desired_zone(
    name: str,
    given: Mapping[str, tuple[list[str] | None, bool]],
    *,
    masquerade: bool | None = None,
    default: bool = False,
) -> DesiredZone:
    lists = {arg: [value(one, arg) for one in wanted or []] for arg, (wanted, _) in given.items()}
    lists["port_fwd"] = [forward_option(one) for one in lists.get("port_fwd", [])]
    pruned = frozenset(arg for arg, (_, prune) in given.items() if prune)
    firewalld.check_name(name, "a zone")
    return DesiredZone(name=name, lists=lists, pruned=pruned, masquerade=masquerade, default=default)


def _settle(ctx: Context, want: DesiredZone) -> Result:
    daemon = firewalld.reach(ctx)
    seen: list[Zone] = []  # as last read: reading takes time

    def differs() -> Changes:
        seen.append(firewalld.zone(ctx, daemon, want.name))
        return _differs(ctx, daemon, want, seen[-1])

    return bring(
        ctx,
        differs,
        lambda changes: _act(ctx, daemon, want, (seen[-1], changes)),
        facts=lambda: _facts(daemon, want.name, seen[-1]),
        words=Words(
            f"'{want.name}' is already in the desired state.",
            f"Configuration for '{want.name}' will change.",
            f"'{want.name}' was configured.",
        ),
    )


def _differs(ctx: Context, daemon: Daemon, want: DesiredZone, zone: Zone) -> Changes:
    """The old and new values of everything that differs, in Salt's form."""
    changes: Changes = {}
    if not zone.exists:
        zones = daemon.permanent(ctx, "--get-zones").split()
        changes[want.name] = {"old": zones, "new": want.name}
    for arg in KINDS:
        add, remove = _steps(want, zone, arg)
        if add or remove:
            now = zone.lists[arg]
            new = [*(one for one in now if one not in remove), *add]
            changes[KINDS[arg].change] = {"old": _shown_values(arg, now), "new": _shown_values(arg, new)}
    if want.masquerade not in (None, zone.masquerade):
        verb = "set" if want.masquerade else "disabled"
        changes["masquerade"] = {"old": zone.masquerade, "new": f"Masquerading successfully {verb}."}
    if want.default and (default := daemon.either(ctx, "--get-default-zone")) != want.name:
        changes["default"] = {"old": default, "new": want.name}
    return changes


def _steps(want: DesiredZone, zone: Zone, arg: str) -> tuple[list[str], list[str]]:
    """The values to remove, and then those to add."""
    wanted, current = want.lists.get(arg, []), zone.lists[arg]
    remove = missing_values(arg, current, wanted) if arg in want.pruned else []
    return missing_values(arg, wanted, [one for one in current if one not in remove]), remove


def _shown_values(arg: str, values: list[str]) -> list[object]:
    return [forward(one) if arg == "port_fwd" else one for one in values]


def _act(ctx: Context, daemon: Daemon, want: DesiredZone, seen: tuple[Zone, Changes]) -> None:
    zone, changes = seen
    if not zone.exists:
        daemon.permanent(ctx, f"--new-zone={want.name}")
    for arg, kind in KINDS.items():
        add, remove = _steps(want, zone, arg)
        for verb, which in (("remove", remove), ("add", add)):
            if which:  # one call may repeat options of one kind, but not mix kinds
                options = [f"--{verb}-{kind.option}={one}" for one in which]
                daemon.permanent(ctx, f"--zone={want.name}", *options)
    if "masquerade" in changes:
        verb = "add" if want.masquerade else "remove"
        daemon.permanent(ctx, f"--zone={want.name}", f"--{verb}-masquerade")
    daemon.reload(ctx)
    if "default" in changes:  # last: only a loaded zone can be the default
        daemon.either(ctx, f"--set-default-zone={want.name}")


def _facts(daemon: Daemon, name: str, zone: Zone) -> Changes:
    known: Changes = {"zone": name, "exists": zone.exists, "running": daemon.running}
    return (
        known | {"masquerade": zone.masquerade} | {arg: _shown_values(arg, zone.lists[arg]) for arg in KINDS}
    )
