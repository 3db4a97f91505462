"""``docker_network.present``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import lifecycle, networks, values
from saltern.modules.lib.containers.engine import Engine, Seen, engine
from saltern.modules.lib.containers.networks import DesiredNetwork
from saltern.modules.states.docker_network.members import (
    back,
    connect_all,
    facts,
    find,
    members,
    remember_members,
    take_down,
)

FLAGS = {
    "internal": "Internal",
    "enable_ipv6": "EnableIPv6",
    "attachable": "Attachable",
    "ingress": "Ingress",
}
OTHER_NAMES = {
    "driver_opt": "driver_opts",
    "options": "driver_opts",
    "ipv6": "enable_ipv6",
    "ip_range": "iprange",
    "aux_address": "aux_addresses",
}


@state
def present(
    ctx: Context,
    /,
    name: str,
    *,
    driver: str = "bridge",
    driver_opts: object = None,
    subnet: str | None = None,
    iprange: str | None = None,
    gateway: str | None = None,
    aux_addresses: object = None,
    ipam_pools: object = None,
    ipam_driver: str | None = None,
    ipam_opts: object = None,
    ipam: object = None,
    internal: bool = False,
    enable_ipv6: bool = False,
    attachable: bool = False,
    ingress: bool = False,
    scope: str = "",
    labels: object = None,
    check_duplicate: bool = True,
    containers: list[str] | None = None,
    reconnect: bool = True,
    skip_translate: object = None,
    ignore_collisions: bool = False,
    validate_ip_addrs: bool = True,
    driver_opt: object = None,
    options: object = None,
    ipv6: bool | None = None,
    ip_range: str | None = None,
    aux_address: object = None,
) -> Result:
    """Make sure that a network exists as described; a network that differs is replaced.

    Args:
        name: the name of the network.
        driver: its driver.
        driver_opts: options of the driver, ``{name: value}``, ``name=value`` or a list; also ``driver_opt``
            and ``options``.
        subnet: its addresses, ``10.0.20.0/24``; the engine chooses if not given.
        iprange: the part of the subnet from which containers get their addresses; also ``ip_range``.
        gateway: the address of the gateway.
        aux_addresses: addresses that are in use, ``{name: address}``; also ``aux_address``.
        ipam_pools: the same for IPv4 and IPv6, a list of ``{subnet, iprange, gateway, aux_addresses}``.
        ipam_driver: the driver that assigns addresses.
        ipam_opts: options of the IPAM driver.
        ipam: all of this in the form of the engine's API, ``{Driver, Config, Options}``.
        internal: containers in it cannot reach other networks.
        enable_ipv6: enable IPv6, too; also ``ipv6``.
        attachable: containers without a service may join it if it spans machines.
        ingress: make it the network that routes to the services of a swarm.
        scope: ``local``, ``global`` or ``swarm``.
        labels: ``{name: value}``, ``name=value``, ``name``, or a list.
        check_duplicate: let older engines refuse a second network with the same name.
        containers: running containers that must be in it; the better way is ``networks`` of
            ``docker_container.running``.
        reconnect: connect containers again to a network that was replaced.
        skip_translate: has no effect here.
        ignore_collisions: if both an argument and its alias are given, use the argument instead of failing.
        validate_ip_addrs: fail for invalid addresses and subnets.
        driver_opt: see ``driver_opts``.
        options: see ``driver_opts``.
        ipv6: see ``enable_ipv6``.
        ip_range: see ``iprange``.
        aux_address: see ``aux_addresses``.

    Example:
        ```yaml
        backend:
          docker_network.present:
            - subnet: 10.210.20.0/24
            - gateway: 10.210.20.1
            - internal: true
            - labels:
                team: web
        ```
    """
    given = _one_name(locals(), ignore_collisions)
    want = DesiredNetwork(
        name=lifecycle.check_name(name),
        driver=driver,
        options=values.settings(given["driver_opts"] or {}),
        labels=values.labels(labels or {}),
        flags={key: bool(given[flag]) for flag, key in FLAGS.items() if given[flag]},
        scope=scope,
        ipam=_ipam(given, validate_ip_addrs),
        check_duplicate=check_duplicate,
    )
    return Maker(ctx, want, containers, reconnect).make()


def _one_name(arguments: Mapping[str, Any], ignore: bool) -> dict[str, Any]:
    given = dict(arguments)
    for other, name in OTHER_NAMES.items():
        if given[other] is None:
            continue
        if given[name] not in (None, False) and not ignore:
            raise Refused(f"{other!r} and {name!r} are the same argument; give one of them")
        given[name] = given[name] or given[other]
    return given


def _ipam(given: Mapping[str, Any], validate: bool) -> dict[str, Any]:
    single = {key: given[key] for key in ("subnet", "iprange", "gateway", "aux_addresses") if given[key]}
    listed: list[Any] = values.items(given["ipam_pools"]) if given["ipam_pools"] else []
    if given["ipam"] is not None:
        if single or listed or given["ipam_driver"] or given["ipam_opts"]:
            raise Refused("ipam replaces all others; leave out subnet, ipam_pools and similar arguments")
        return values.mapping(given["ipam"])
    if single and listed:
        raise Refused("give either subnet and similar arguments, or ipam_pools")
    if not all(isinstance(one, Mapping) for one in listed):
        raise Refused("ipam_pools needs a list of mappings, each with a subnet")
    pools = [networks.pool(one, validate=validate) for one in ([single] if single else listed)]
    return networks.ipam(pools, given["ipam_driver"], values.settings(given["ipam_opts"] or {}))


class Maker:
    """One network, its specification, and the containers that must be in it."""

    def __init__(
        self, ctx: Context, want: DesiredNetwork, containers: list[str] | None, reconnect: bool
    ) -> None:
        self.ctx = ctx
        self.want = want
        self.engine: Engine = engine(ctx)
        self.reconnect = reconnect and not containers
        self.wanted, self.warnings = members(self.engine, containers or [])

    def make(self) -> Result:
        name = self.want.name
        word = "created" if find(self.engine, name) is None else "changed"
        return bring(
            self.ctx,
            self.differs,
            lambda _: self.act(),
            facts=lambda: facts(name, find(self.engine, name)),
            words=Words(
                f"Network {name!r} already exists, and is configured as specified",
                f"Network {name!r} would be {word}",
                f"Network {name!r} was {word}",
            ),
            warnings=self.warnings,
        )

    def differs(self) -> Changes:
        seen = find(self.engine, self.want.name)
        changes: Changes = {"created": True} if seen is None else self._replacements(seen)
        inside = {} if changes or seen is None else seen.get("Containers") or {}
        missing = [name for key, name in self.wanted.items() if key not in inside]
        return changes | ({"connected": missing} if missing else {})

    def _replacements(self, seen: Seen) -> Changes:
        found = networks.differences(self.want, seen)
        if not found:
            return {}
        there = sorted(one["Name"] for one in (seen.get("Containers") or {}).values())
        moved = {"reconnected" if self.reconnect else "disconnected": there} if there else {}
        return {self.want.name: found, "recreated": True, **moved}

    def act(self) -> None:
        seen = find(self.engine, self.want.name)
        former = {}
        if seen is not None and self._replacements(seen):
            former = remember_members(self.engine, seen) if self.reconnect else {}
            take_down(self.engine, seen)
            seen = None
        if seen is None:
            self.engine.ask("POST", "/networks/create", body=self.want.body())
            back(self.engine, self.want.name, former)
        connect_all(self.engine, self.want.name, self.wanted)
