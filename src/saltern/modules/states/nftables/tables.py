"""``nftables.table_present`` and ``nftables.table_absent``."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored
from saltern.modules.lib.firewalls import nft
from saltern.modules.lib.firewalls.nft import Place


@state
def table_present(ctx: Context, /, name: str, *, family: str = "ipv4", **_: Ignored) -> Result:
    """Make sure that a table exists.

    Args:
        name: the table.
        family: ``ipv4``, ``ipv6``, ``inet`` (both), ``arp``, ``bridge`` or ``netdev``.

    Example:
        ```yaml
        filter:
          nftables.table_present:
            - family: inet
        ```
    """
    where = nft.place(name, "", family, whole_table=True)
    return bring(
        ctx,
        lambda: {} if nft.has_table(ctx, where) else {"locale": name},
        lambda _: nft.run(ctx, "add", "table", *where.path),
        facts=lambda: _facts(ctx, where),
        words=_words(name, family, "already present", "created"),
    )


@state
def table_absent(ctx: Context, /, name: str, *, family: str = "ipv4", **_: Ignored) -> Result:
    """Make sure that a table does not exist; its chains and rules are removed with it.

    Args:
        name: the table.
        family: ``ipv4``, ``ipv6``, ``inet``, ``arp``, ``bridge`` or ``netdev``.

    Example:
        ```yaml
        oldtable:
          nftables.table_absent:
            - family: inet
        ```
    """
    where = nft.place(name, "", family, whole_table=True)
    return bring(
        ctx,
        lambda: {"locale": name} if nft.has_table(ctx, where) else {},
        lambda _: nft.run(ctx, "delete", "table", *where.path),
        facts=lambda: _facts(ctx, where),
        words=_words(name, family, "absent", "deleted"),
    )


def _facts(ctx: Context, where: Place) -> Changes:
    return {"table": where.table, "family": where.family, "exists": nft.has_table(ctx, where)}


def _words(name: str, family: str, already: str, verb: str) -> Words:
    what = f"nftables table {name} of family {family}"
    return Words(f"{what} is {already}", f"{what} would be {verb}", f"{what} was {verb}")
