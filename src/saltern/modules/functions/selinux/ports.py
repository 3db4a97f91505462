"""Functions of ``selinux`` for the types of ports."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.functions.selinux.contexts import Done, done_from
from saltern.modules.lib.selinux import ports


@function
def port_get_policy(
    ctx: Context, name: str, sel_type: str | None = None, protocol: str | None = None, port: object = None
) -> dict[str, str] | None:
    """The type of a port; None if it has none.

    Args:
        name: the port, such as ``tcp/8080``.
        sel_type: only if it is this type.
        protocol: ``tcp`` or ``udp``, if not in the name.
        port: the port or range, if not in the name.

    Example:
        ```console
        $ saltern call selinux.port_get_policy tcp/80
        ```
    """
    which = ports.port(name, protocol, port)
    found = ports.type_of(ctx, which)
    return ports.port_facts(which, found) if found and sel_type in (None, found) else None


@function
def port_add_policy(
    ctx: Context,
    name: str,
    sel_type: str | None = None,
    protocol: str | None = None,
    port: object = None,
    sel_range: str | None = None,
) -> Done:
    """Set the type of a port.

    Args:
        name: the port, such as ``tcp/8080``.
        sel_type: the type.
        protocol: ``tcp`` or ``udp``, if not in the name.
        port: the port or range, if not in the name.
        sel_range: the range of levels.

    Example:
        ```console
        $ saltern call selinux.port_add_policy tcp/8088 http_port_t
        ```
    """
    if not sel_type:
        raise Refused("sel_type is missing; give the type of the port")
    return done_from(ports.run(ctx, "add", ports.port(name, protocol, port), sel_type, sel_range))


@function
def port_modify_policy(
    ctx: Context,
    name: str,
    sel_type: str | None = None,
    protocol: str | None = None,
    port: object = None,
    sel_range: str | None = None,
) -> Done:
    """Change the type of a port.

    Args:
        name: the port, such as ``tcp/8080``.
        sel_type: the type.
        protocol: ``tcp`` or ``udp``, if not in the name.
        port: the port or range, if not in the name.
        sel_range: the range of levels.

    Example:
        ```console
        $ saltern call selinux.port_modify_policy tcp/8088 http_port_t
        ```
    """
    return done_from(ports.run(ctx, "modify", ports.port(name, protocol, port), sel_type, sel_range))


@function
def port_delete_policy(ctx: Context, name: str, protocol: str | None = None, port: object = None) -> Done:
    """Remove the local type of a port.

    Args:
        name: the port, such as ``tcp/8080``.
        protocol: ``tcp`` or ``udp``, if not in the name.
        port: the port or range, if not in the name.

    Example:
        ```console
        $ saltern call selinux.port_delete_policy tcp/8088
        ```
    """
    return done_from(ports.run(ctx, "delete", ports.port(name, protocol, port)))
