"""``selinux.port_policy_present`` and ``selinux.port_policy_absent``: the types of ports."""

from __future__ import annotations

from msgspec.structs import replace

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.selinux import ports
from saltern.modules.lib.selinux.ports import Port


@state
def port_policy_present(
    ctx: Context,
    name: str,
    *,
    sel_type: str,
    protocol: str | None = None,
    port: str | None = None,
    sel_range: str | None = None,
) -> Result:
    """Make sure that a port has a type.

    Args:
        name: the port, such as ``tcp/8080`` or ``udp/6000-6010``.
        sel_type: the type.
        protocol: ``tcp`` or ``udp``, if not in the name.
        port: the port or range, if not in the name.
        sel_range: the range of levels.

    Example:
        ```yaml
        tcp/8088:
          selinux.port_policy_present:
            - sel_type: http_port_t
        ```
    """
    which = ports.port(name, protocol, port)

    seen: list[str | None] = []  # as last read: each reading takes a moment

    def differs() -> Changes:
        now = ports.type_of(ctx, which)
        seen.append(now)
        old = ports.port_facts(which, now) if now else None
        return {} if now == sel_type else {"old": old, "new": ports.port_facts(which, sel_type)}

    return bring(
        ctx,
        differs,
        lambda changes: ports.run(ctx, "modify" if changes["old"] else "add", which, sel_type, sel_range),
        facts=lambda: _facts(which, seen[-1]),
        words=_words(which, f"of type {sel_type}", f"given the type {sel_type}"),
    )


def _facts(which: Port, now: str | None) -> Changes:
    return {"protocol": which.protocol, "port": which.port, "exists": now is not None, "sel_type": now}


def _words(which: Port, already: str, verb: str) -> Words:
    what = f"SELinux port {which.protocol}/{which.port}"
    return Words(f"{what} is {already}", f"{what} would be {verb}", f"{what} was {verb}")


@state
def port_policy_absent(
    ctx: Context,
    name: str,
    *,
    sel_type: str | None = None,
    protocol: str | None = None,
    port: str | None = None,
) -> Result:
    """Make sure that there is no local policy for the type of a port.

    Args:
        name: the port, such as ``tcp/8080`` or ``udp/6000-6010``.
        sel_type: only if it is this type.
        protocol: ``tcp`` or ``udp``, if not in the name.
        port: the port or range, if not in the name.

    Example:
        ```yaml
        tcp/8099:
          selinux.port_policy_absent: []
        ```
    """
    which = ports.port(name, protocol, port)

    seen: list[str | None] = []

    def differs() -> Changes:
        own = ports.read(ctx, local=True).get(which, [])
        seen.append(own[0] if own else None)
        if not own or sel_type not in (None, own[0]):
            return {}
        return {"old": ports.port_facts(which, own[0]), "new": None}

    result = bring(
        ctx,
        differs,
        lambda _: ports.run(ctx, "delete", which),
        facts=lambda: _facts(which, seen[-1]),
        words=_words(which, "without a local type", "removed"),
    )
    if result.changes or seen[-1] or not (foreign := ports.type_of(ctx, which)):
        return result
    return replace(result, warnings=(f"the policy itself gives {name} the type {foreign}, which stays",))
