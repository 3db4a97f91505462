"""``hosts``: the names in /etc/hosts."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import one_line
from saltern.modules.lib.tables import hosts


@function
def list_hosts(ctx: Context) -> dict[str, object]:
    """Every address and its names: ``{ip: {aliases: […]}}``.

    Example:
        ```console
        $ saltern call hosts.list_hosts
        local:
            ----------
            10.0.0.7:
                ----------
                aliases:
                    - db.example.org
                    - db
            10.0.0.8:
        …
        ```
    """
    return {ip: {"aliases": names} for ip, names in hosts.read(ctx).asdict().items()}


@function
def get_ip(ctx: Context, host: str) -> str:
    """The address of a name; empty if it has none.

    Example:
        ```console
        $ saltern call hosts.get_ip db
        local:
            10.0.0.7
        ```
    """
    return next(iter(hosts.read(ctx).addresses_of(host)), "")


@function
def get_alias(ctx: Context, ip: str) -> list[str]:
    """The names of an address.

    Example:
        ```console
        $ saltern call hosts.get_alias 10.0.0.7
        local:
            - db.example.org
            - db
        ```
    """
    return hosts.read(ctx).names_of(ip)


@function
def has_pair(ctx: Context, ip: str, alias: str) -> bool:
    """True if the address has this name.

    Example:
        ```console
        $ saltern call hosts.has_pair 10.0.0.7 db
        local:
            True
        ```
    """
    return alias in hosts.read(ctx).names_of(ip)


@function
def add_host(ctx: Context, ip: str, alias: str) -> bool:
    """Add a name to an address.

    Example:
        ```console
        $ saltern call hosts.add_host 10.0.0.7 postgres.example.org
        local:
            True
        ```
    """
    table = hosts.read(ctx)
    hosts.write(ctx, table.with_name(hosts.checked_ip(ip), hosts.checked_name(alias)))
    return True


@function
def rm_host(ctx: Context, ip: str, alias: str) -> bool:
    """Remove a name from an address.

    Example:
        ```console
        $ saltern call hosts.rm_host 10.0.0.8 old.example.org
        local:
            True
        ```
    """
    hosts.write(ctx, hosts.read(ctx).without_name(ip, alias))
    return True


@function
def set_host(ctx: Context, ip: str, alias: str, comment: str | None = None) -> bool:
    """Set the names of an address, separated by blanks.

    Example:
        ```console
        $ saltern call hosts.set_host 10.0.0.7 'db.example.org db postgres'
        local:
            True
        ```
    """
    names = tuple(map(hosts.checked_name, alias.split()))
    table = hosts.read(ctx).with_only(hosts.checked_ip(ip), names)
    if comment and names:
        table = table.with_comment(ip, one_line(comment, "comment"))
    hosts.write(ctx, table)
    return True


@function
def set_comment(ctx: Context, ip: str, comment: str) -> bool:
    """Set the comment after the names of an address; false if the address is missing.

    Example:
        ```console
        $ saltern call hosts.set_comment 10.0.0.7 'the database'
        local:
            True
        ```
    """
    table = hosts.read(ctx)
    if not table.names_of(ip):
        return False
    hosts.write(ctx, table.with_comment(ip, one_line(comment, "comment")))
    return True
