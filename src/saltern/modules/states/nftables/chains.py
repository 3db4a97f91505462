"""``nftables.chain_present`` and the like: chains as a whole."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused, check_known
from saltern.modules.lib.firewalls import nft
from saltern.modules.lib.firewalls.nft import Item, Place

BASE = ("type", "hook", "prio", "policy")


@state
def chain_present(
    ctx: Context,
    name: str,
    *,
    table: str = "filter",
    table_type: str | None = None,
    hook: str | None = None,
    priority: str | None = None,
    family: str = "ipv4",
) -> Result:
    """Make sure that a chain exists; an existing chain is not changed.

    Args:
        name: the chain.
        table: the table it is in.
        table_type: ``filter``, ``nat`` or ``route``, for a base chain.
        hook: the hook of a base chain, such as ``input``.
        priority: its order among the chains of the hook, such as ``0``.
        family: ``ipv4``, ``ipv6``, ``inet`` (both), ``arp``, ``bridge`` or ``netdev``.

    Example:
        ```yaml
        web:
          nftables.table_present:
            - family: inet

        input:
          nftables.chain_present:
            - family: inet
            - table: web
            - table_type: filter
            - hook: input
            - priority: 0
            - require:
              - nftables: web
        ```
    """
    where, base = nft.place(table, name, family), nft.base(table_type, hook, priority)
    return bring(
        ctx,
        lambda: {} if nft.chain(ctx, where) else {"locale": name},
        lambda _: nft.run(ctx, "add", "chain", *where.path, *base),
        facts=lambda: facts(ctx, where),
        words=_words(where, "already present", "created"),
    )


def facts(ctx: Context, where: Place) -> Changes:
    found = nft.chain(ctx, where)
    known: Changes = {"table": where.table, "chain": where.chain, "family": where.family}
    known |= {"exists": found is not None} | {key: found[key] for key in BASE if found and key in found}
    return known | {"rules": list(nft.rule_lines(ctx, where).values())}


def _words(where: Place, already: str, verb: str) -> Words:
    what = f"nftables {where.family} {where.table} {where.chain}".rstrip()
    return Words(f"{what} is {already}", f"{what} would be {verb}", f"{what} was {verb}")


@state
def chain_absent(ctx: Context, name: str, *, table: str = "filter", family: str = "ipv4") -> Result:
    """Make sure that a chain does not exist; its rules are removed with it.

    Args:
        name: the chain.
        table: the table it is in.
        family: ``ipv4``, ``ipv6``, ``inet``, ``arp``, ``bridge`` or ``netdev``.

    Example:
        ```yaml
        oldchain:
          nftables.chain_absent:
            - family: inet
            - table: filter
        ```
    """
    where = nft.place(table, name, family)
    return bring(
        ctx,
        lambda: {"locale": name} if nft.chain(ctx, where) else {},
        # In one call: if a rule still jumps to the chain, its rules stay, too.
        lambda _: nft.run(ctx, "flush chain", *where.path, "; delete chain", *where.path),
        facts=lambda: facts(ctx, where),
        words=_words(where, "absent", "deleted"),
    )


@state
def set_policy(
    ctx: Context,
    name: str,
    *,
    chain: str,
    policy: str,
    table: str = "filter",
    family: str = "ipv4",
    save: object = False,
    save_filename: str | None = None,
) -> Result:
    """Set the policy of a chain with a hook, for packets that no rule matches.

    Args:
        name: the name in the report.
        chain: the chain.
        policy: ``accept`` or ``drop``.
        table: the table it is in.
        family: ``ipv4``, ``ipv6``, ``inet``, ``arp``, ``bridge`` or ``netdev``.
        save: true to save all tables in /etc/nftables, or the path of a file.
        save_filename: that file.

    Example:
        ```yaml
        guard:
          nftables.table_present:
            - family: inet

        forward:
          nftables.chain_present:
            - family: inet
            - table: guard
            - table_type: filter
            - hook: forward
            - priority: 0

        nothing is forwarded:
          nftables.set_policy:
            - family: inet
            - table: guard
            - chain: forward
            - policy: drop
        ```
    """
    where, wanted = nft.place(table, chain, family), policy.lower()
    check_known(wanted, nft.POLICIES, "policy")
    file = nft.file_of(ctx, save and (save_filename or save))

    def differs() -> Changes:
        if _with_policy(ctx, where)["policy"] != wanted:
            return {"locale": name}
        return {} if not file or nft.policy_is_kept(ctx, where, wanted, file) else {"saved": file}

    def act(changes: Changes) -> None:
        if "locale" in changes:
            nft.run(ctx, "chain", *where.path, f"{{ policy {wanted}; }}")
        nft.save(ctx, file)

    return bring(
        ctx,
        differs,
        act,
        facts=lambda: facts(ctx, where),
        words=_words(where, f"set to {wanted}", f"set to {wanted}"),
    )


def _with_policy(ctx: Context, where: Place) -> Item:
    """The chain, which must have a hook; empty if an earlier state may still create it in test mode."""
    found = nft.chain(ctx, where)
    if found is None and ctx.test:
        return {"policy": None}
    if found is None or "policy" not in found:
        raise Refused(
            f"{where.chain} in table {where.table} is not a chain with a hook; only those have a policy"
        )
    return found


@state
def flush(
    ctx: Context,
    name: str,
    *,
    chain: str = "",
    table: str = "filter",
    family: str = "ipv4",
    ignore_absence: bool = False,
) -> Result:
    """Make sure that a chain has no rules.

    Args:
        name: the name in the report.
        chain: the chain; all chains of the table if not given.
        table: the table.
        family: ``ipv4``, ``ipv6``, ``inet``, ``arp``, ``bridge`` or ``netdev``.
        ignore_absence: succeed if the table or chain does not exist.

    Example:
        ```yaml
        no rules of old:
          nftables.flush:
            - table: filter
            - ignore_absence: true
        ```
    """
    where = nft.place(table, chain, family, whole_table=True)
    there = nft.chain(ctx, where) is not None if chain else nft.has_table(ctx, where)
    if not there and not ignore_absence and not ctx.test:  # in a test, an earlier state may make it
        raise Refused(f"there is no {' '.join(where.path)} to flush; set ignore_absence to accept that")

    def rules() -> list[Item]:
        found = nft.items(ctx, "rule", "chain" if chain else "table", *where.path)
        return [one for one in found if chain in ("", one["chain"])]

    return bring(
        ctx,
        lambda: {"locale": name} if there and rules() else {},
        lambda _: nft.run(ctx, "flush", "chain" if chain else "table", *where.path),
        facts=lambda: {"table": table, "chain": chain, "family": where.family, "exists": there},
        words=_words(where, "empty", "flushed"),
    )
