"""``host``: the names in /etc/hosts."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import one_line
from saltern.modules.lib.tables import hosts
from saltern.modules.lib.tables.hosts import Hosts


@state
def present(ctx: Context, name: str, *, ip: list[str], comment: str = "", clean: bool = False) -> Result:
    """Make sure that a name resolves to these addresses.

    Args:
        name: the name of the host.
        ip: the address, or a list of them.
        comment: a comment after the names of the address.
        clean: remove the name from all other addresses.

    Example:
        ```yaml
        db.example.org:
          host.present:
            - ip: 10.0.0.9
            - clean: true
        ```
    """
    hosts.checked_name(name)
    addresses = list(dict.fromkeys(map(hosts.checked_ip, ip)))
    one_line(comment, "comment")

    def act(_: Changes) -> None:
        table = hosts.read(ctx)
        for address in addresses:
            table = table.with_name(address, name)
            if comment and comment not in table.comments_of(address):
                table = table.with_comment(address, comment)
        for address in _others(table, name, addresses) if clean else ():
            table = table.without_name(address, name)
        hosts.write(ctx, table)

    return bring(
        ctx,
        lambda: _differs(hosts.read(ctx), name, addresses, comment=comment, clean=clean),
        act,
        facts=lambda: _facts(ctx, name),
        words=Words(f"Host {name} is present", f"Host {name} would be set", f"Host {name} was set"),
        warnings=() if clean else _strays(hosts.read(ctx), name, addresses),
    )


def _others(table: Hosts, name: str, addresses: list[str]) -> list[str]:
    return [address for address in table.addresses_of(name) if address not in addresses]


def _strays(table: Hosts, name: str, addresses: list[str]) -> tuple[str, ...]:
    others = _others(table, name, addresses)
    return (f"Host {name} also resolves to {', '.join(others)}; set clean to change that",) if others else ()


def _differs(table: Hosts, name: str, addresses: list[str], *, comment: str, clean: bool) -> Changes:
    missing = [address for address in addresses if name not in table.names_of(address)]
    silent = [one for one in addresses if comment and comment not in table.comments_of(one)]
    extra = _others(table, name, addresses) if clean else []
    parts: Changes = {
        "added": {address: [name] for address in missing},
        "comment_added": {address: [comment] for address in silent},
        "removed": {address: [name] for address in extra},
    }
    return {what: which for what, which in parts.items() if which}


def _facts(ctx: Context, name: str) -> Changes:
    addresses = hosts.read(ctx).addresses_of(name)
    return {"name": name, "exists": bool(addresses), "ip": addresses, "file": hosts.place(ctx)}


@state(removes=True)
def absent(ctx: Context, name: str, *, ip: list[str] | None = None) -> Result:
    """Make sure that a name does not resolve to these addresses.

    Args:
        name: the name of the host.
        ip: the address, or a list of them; all if not given.

    Example:
        ```yaml
        old.example.org:
          host.absent: []
        ```
    """
    addresses = None if ip is None else [hosts.checked_ip(one) for one in ip]

    def find() -> list[str]:
        have = hosts.read(ctx).addresses_of(name)
        return [address for address in have if addresses is None or address in addresses]

    def act(_: Changes) -> None:
        table = hosts.read(ctx)
        for address in find():
            table = table.without_name(address, name)
        hosts.write(ctx, table)

    return bring(
        ctx,
        lambda: {"host": name} if find() else {},
        act,
        facts=lambda: _facts(ctx, name),
        words=Words(f"Host {name} is absent", f"Host {name} would be removed", f"Host {name} was removed"),
    )


@state
def only(ctx: Context, name: str, *, hostnames: list[str]) -> Result:
    """Make sure that an address has exactly these names.

    Args:
        name: the address.
        hostnames: all its names; the first is the canonical name.

    Example:
        ```yaml
        127.0.1.1:
          host.only:
            - hostnames: [web1.example.org, web1, www]
        ```
    """
    hosts.checked_ip(name)
    wanted = [hosts.checked_name(one) for text in hostnames for one in text.split()]

    def differs() -> Changes:
        now = hosts.read(ctx).names_of(name)
        return {} if now == wanted else {name: {"old": " ".join(now), "new": " ".join(wanted)}}

    return bring(
        ctx,
        differs,
        lambda _: hosts.write(ctx, hosts.read(ctx).with_only(name, tuple(wanted))),
        facts=lambda: {"ip": name, "hostnames": hosts.read(ctx).names_of(name), "file": hosts.place(ctx)},
        words=Words(f"{name} has these names only", f"{name} would be renamed", f"{name} was renamed"),
    )
