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


class DesiredNftRule(Struct, frozen=True, kw_only=True):
    """One rule. ``file`` is where all tables are saved; empty if they are not."""

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
    """Make sure that a chain has a rule; a new rule is added at the end.

    A rule with the same meaning keeps its position, however it is written.

    Args:
        name: the name in the report; not part of the rule.
        chain: the chain.
        table: the table it is in.
        family: ``ipv4``, ``ipv6``, ``inet`` (both), ``arp``, ``bridge`` or ``netdev``.
        save: true to save all tables in /etc/nftables (in a file below it, if it is a directory), or a path.
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
    want = _desired_rule(ctx, name, nft.place(table, chain, family), save, options)
    return _settle(ctx, want, "add", "rule", *want.where.path)


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
    """Make sure that a chain has a rule; a new rule is inserted first, or before another one.

    Args:
        name: the name in the report; not part of the rule.
        chain: the chain.
        table: the table it is in.
        family: ``ipv4``, ``ipv6``, ``inet``, ``arp``, ``bridge`` or ``netdev``.
        position: the handle of the rule before which a new one is inserted.
        save: true to save all tables in /etc/nftables, or a path.
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
    want = _desired_rule(ctx, name, nft.place(table, chain, family), save, options)
    before = ["position", str(position)] if position else []
    return _settle(ctx, want, "insert", "rule", *want.where.path, *before)


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
        name: the name in the report; not part of the rule.
        chain: the chain.
        table: the table it is in.
        family: ``ipv4``, ``ipv6``, ``inet``, ``arp``, ``bridge`` or ``netdev``.
        position: the handle of the rule, instead of its options.
        save: true to save all tables in /etc/nftables, or a path.
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
    want = _desired_rule(ctx, name, nft.place(table, chain, family), save, options)
    if not want.rule and not position:
        raise Refused("delete needs the options of a rule, or its position, which is its handle")

    def there() -> list[int]:
        if want.rule:
            return nft.handles(ctx, want.where, want.rule)
        return [one for one in nft.rule_lines(ctx, want.where) if one == position]

    def act(_: Changes) -> None:
        for handle in there():
            nft.run(ctx, "delete", "rule", *want.where.path, "handle", str(handle))
        nft.save(ctx, want.file)

    return bring(
        ctx,
        lambda: _changes(ctx, want, bool(there())),
        act,
        facts=lambda: _facts(want, bool(there())),
        words=_words(want, "absent", "deleted"),
    )


def _desired_rule(
    ctx: Context, name: str, where: Place, save: object, options: dict[str, object]
) -> DesiredNftRule:
    file = nft.file_of(ctx, save and (options.get("save_filename") or save))
    return DesiredNftRule(name=name, where=where, rule=nft_rule.text(options, where.family), file=file)


def _settle(ctx: Context, want: DesiredNftRule, *command: str) -> Result:
    def there() -> bool:
        return bool(nft.handles(ctx, want.where, want.rule))

    def act(changes: Changes) -> None:
        if "locale" in changes:
            nft.run(ctx, *command, want.rule)
        nft.save(ctx, want.file)

    return bring(
        ctx,
        lambda: _changes(ctx, want, not there()),
        act,
        facts=lambda: _facts(want, there()),
        words=_words(want, "set", "set"),
    )


def _changes(ctx: Context, want: DesiredNftRule, wrong: bool) -> Changes:
    if wrong:
        return {"locale": want.name}
    kept = not want.file or not want.rule or nft.is_kept(ctx, want.where, want.rule, want.file)
    return {} if kept else {"saved": want.file}


def _facts(want: DesiredNftRule, exists: bool) -> Changes:
    where = want.where
    known: Changes = {
        "name": want.name,
        "table": where.table,
        "chain": where.chain,
        "family": where.family,
    }
    return known | {"rule": want.rule, "exists": exists} | ({"file": want.file} if want.file else {})


def _words(want: DesiredNftRule, already: str, verb: str) -> Words:
    what = f"nftables rule {want.name} ({want.rule}) in {' '.join(want.where.path)}"
    return Words(f"{what} is already {already}", f"{what} would be {verb}", f"{what} was {verb}")
