"""``nftables.append``, ``nftables.insert`` and ``nftables.delete``: rules of a chain."""

from __future__ import annotations

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.firewalls import nft, nft_rule
from saltern.modules.lib.firewalls.nft import Place


class Wish(Struct, frozen=True, kw_only=True):
    """One rule. ``file`` is where all tables are kept, empty if nowhere."""

    name: str
    where: Place
    rule: str
    file: str = ""


@state
def append(
    ctx: Context,
    /,
    name: str,
    *,
    chain: str,
    table: str = "filter",
    family: str = "ipv4",
    save: object = False,
    **options: object,
) -> Result:
    """Make sure that a chain has a rule; a new one comes last.

    A rule that does the same is left where it is, however it is written.

    Args:
        name: what to call the rule here; it is not part of it.
        chain: the chain.
        table: the table it is in.
        family: ``ipv4``, ``ipv6``, ``inet`` (both), ``arp``, ``bridge`` or ``netdev``.
        save: true to keep all tables in /etc/nftables (a file in it, if it is a directory), or a path.
        **options: the rule: ``jump`` (``accept``, ``drop``, a chain, or any statement), ``proto``, ``dport``,
            ``dports``, ``sport``, ``sports``, ``source``, ``destination``, ``if``, ``of``, ``connstate``,
            ``icmp-type``, ``icmpv6-type``, ``pkttype``, ``counter``, ``comment``, ``redirect-to``,
            ``to-source``, ``to-destination``, ``reject-with``. Values may be expressions of nft.

    Example:
        ```yaml
        shop:
          nftables.table_present:
            - family: inet

        visitors:
          nftables.chain_present:
            - family: inet
            - table: shop

        web may be reached:
          nftables.append:
            - family: inet
            - table: shop
            - chain: visitors
            - proto: tcp
            - dports: [80, 443]
            - connstate: new
            - counter: true
            - jump: accept
        ```
    """
    wish = _wish(ctx, name, nft.place(table, chain, family), save, options)
    return _settled(ctx, wish, "add", "rule", *wish.where.path)


@state
def insert(
    ctx: Context,
    /,
    name: str,
    *,
    chain: str,
    table: str = "filter",
    family: str = "ipv4",
    position: int = 0,
    save: object = False,
    **options: object,
) -> Result:
    """Make sure that a chain has a rule; a new one comes first, or before another one.

    Args:
        name: what to call the rule here; it is not part of it.
        chain: the chain.
        table: the table it is in.
        family: ``ipv4``, ``ipv6``, ``inet``, ``arp``, ``bridge`` or ``netdev``.
        position: the handle of the rule that a new one comes before.
        save: true to keep all tables in /etc/nftables, or a path.
        **options: the rule, as in ``nftables.append``.

    Example:
        ```yaml
        house:
          nftables.table_present: []

        door:
          nftables.chain_present:
            - table: house

        the loopback is open:
          nftables.insert:
            - table: house
            - chain: door
            - if: lo
            - jump: accept
        ```
    """
    wish = _wish(ctx, name, nft.place(table, chain, family), save, options)
    before = ["position", str(position)] if position else []
    return _settled(ctx, wish, "insert", "rule", *wish.where.path, *before)


@state(removes=True)
def delete(
    ctx: Context,
    /,
    name: str,
    *,
    chain: str,
    table: str = "filter",
    family: str = "ipv4",
    position: int = 0,
    save: object = False,
    **options: object,
) -> Result:
    """Make sure that a chain does not have a rule.

    Args:
        name: what to call the rule here; it is not part of it.
        chain: the chain.
        table: the table it is in.
        family: ``ipv4``, ``ipv6``, ``inet``, ``arp``, ``bridge`` or ``netdev``.
        position: instead of the rule, its handle.
        save: true to keep all tables in /etc/nftables, or a path.
        **options: the rule, as in ``nftables.append``.

    Example:
        ```yaml
        telnet is not let in:
          nftables.delete:
            - table: filter
            - chain: input
            - proto: tcp
            - dport: 23
            - jump: accept
        ```
    """
    wish = _wish(ctx, name, nft.place(table, chain, family), save, options)
    if not wish.rule and not position:
        raise Refused("delete needs the options of a rule, or the position of one: its handle")

    def there() -> list[int]:
        if wish.rule:
            return nft.handles(ctx, wish.where, wish.rule)
        return [one for one in nft.rule_lines(ctx, wish.where) if one == position]

    def act(_: Changes) -> None:
        for handle in there():
            nft.run(ctx, "delete", "rule", *wish.where.path, "handle", str(handle))
        nft.save(ctx, wish.file)

    return bring(
        ctx,
        lambda: _changes(ctx, wish, bool(there())),
        act,
        facts=lambda: _facts(wish, bool(there())),
        words=_words(wish, "absent", "deleted"),
    )


def _wish(ctx: Context, name: str, where: Place, save: object, options: dict[str, object]) -> Wish:
    file = nft.file_of(ctx, save and (options.get("save_filename") or save))
    return Wish(name=name, where=where, rule=nft_rule.text(options, where.family), file=file)


def _settled(ctx: Context, wish: Wish, *command: str) -> Result:
    def there() -> bool:
        return bool(nft.handles(ctx, wish.where, wish.rule))

    def act(changes: Changes) -> None:
        if "locale" in changes:
            nft.run(ctx, *command, wish.rule)
        nft.save(ctx, wish.file)

    return bring(
        ctx,
        lambda: _changes(ctx, wish, not there()),
        act,
        facts=lambda: _facts(wish, there()),
        words=_words(wish, "set", "set"),
    )


def _changes(ctx: Context, wish: Wish, wrong: bool) -> Changes:
    if wrong:
        return {"locale": wish.name}
    kept = not wish.file or not wish.rule or nft.is_kept(ctx, wish.where, wish.rule, wish.file)
    return {} if kept else {"saved": wish.file}


def _facts(wish: Wish, exists: bool) -> Changes:
    where = wish.where
    known: Changes = {"name": wish.name, "table": where.table, "chain": where.chain, "family": where.family}
    return known | {"rule": wish.rule, "exists": exists} | ({"file": wish.file} if wish.file else {})


def _words(wish: Wish, already: str, verb: str) -> Words:
    what = f"nftables rule {wish.name} ({wish.rule}) in {' '.join(wish.where.path)}"
    return Words(f"{what} is already {already}", f"{what} would be {verb}", f"{what} was {verb}")
