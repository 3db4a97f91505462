"""Functions of ``nftables`` that change something."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import check_known
from saltern.modules.functions.nftables.answers import Reply, answer, describe_place, run_nft
from saltern.modules.lib.firewalls import nft
from saltern.modules.lib.firewalls.nft import Place


@function
def save(ctx: Context, filename: str | None = None, family: str = "ipv4") -> str:  # noqa: ARG001
    """Save all tables in force to a file. Returns its content.

    Args:
        filename: the file; /etc/nftables if not given.
        family: has no effect; all families are saved.

    Example:
        ```console
        $ saltern call nftables.save
        ```
    """
    nft.save(ctx, nft.file_of(ctx, filename or True))
    return nft.current(ctx)


@function
def new_table(ctx: Context, table: str, family: str = "ipv4") -> Reply:
    """Create a table.

    Args:
        table: the table.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.new_table mine family=inet
        ```
    """
    where = nft.place(table, "", family, whole_table=True)
    return run_nft(ctx, where, "created", "add", "table", *where.path)


@function
def delete_table(ctx: Context, table: str, family: str = "ipv4") -> Reply:
    """Delete a table.

    Args:
        table: the table.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.delete_table mine family=inet
        ```
    """
    where = nft.place(table, "", family, whole_table=True)
    return run_nft(ctx, where, "deleted", "delete", "table", *where.path)


@function
def new_chain(
    ctx: Context,
    table: str = "filter",
    chain: str = "",
    table_type: str | None = None,
    hook: str | None = None,
    priority: object = None,
    family: str = "ipv4",
) -> Reply:
    """Create a chain.

    Args:
        table: the table.
        chain: the chain.
        table_type: ``filter``, ``nat`` or ``route``, for a base chain.
        hook: the hook of a base chain.
        priority: its order among the chains of the hook.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.new_chain mine input table_type=filter hook=input priority=0 family=inet
        ```
    """
    where = nft.place(table, chain, family)
    if nft.chain(ctx, where) is not None:
        return answer(False, f"{describe_place(where)} already exists")
    base = nft.base(table_type, hook, None if priority is None else str(priority))
    return run_nft(ctx, where, "created", "add", "chain", *where.path, *base)


@function
def delete_chain(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> Reply:
    """Delete an empty chain.

    Args:
        table: the table.
        chain: the chain.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.delete_chain mine input family=inet
        ```
    """
    where = nft.place(table, chain, family)
    return run_nft(ctx, where, "deleted", "delete", "chain", *where.path)


@function
def append(
    ctx: Context, table: str = "filter", chain: str = "", rule: str = "", family: str = "ipv4"
) -> Reply:
    """Append a rule unless it exists.

    Args:
        table: the table.
        chain: the chain.
        rule: the rule, in the language of nft.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.append mine input rule='tcp dport 22 accept' family=inet
        ```
    """
    return _add_rule(ctx, nft.place(table, chain, family), rule, "add")


def _add_rule(ctx: Context, where: Place, rule: str, command: str, *before: str) -> Reply:
    if nft.handles(ctx, where, rule):
        return answer(False, f"Rule {rule} already exists: {describe_place(where)}")
    return run_nft(ctx, where, f"now has the rule {rule}", command, "rule", *where.path, *before, rule)


@function
def insert(
    ctx: Context,
    table: str = "filter",
    chain: str = "",
    position: int | None = None,
    rule: str = "",
    family: str = "ipv4",
) -> Reply:
    """Insert a rule unless it exists, first or before another one.

    Args:
        table: the table.
        chain: the chain.
        position: the handle of the rule to insert it before.
        rule: the rule, in the language of nft.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.insert mine input rule='tcp dport 22 accept' family=inet
        ```
    """
    before = ["position", str(int(position))] if position else []
    return _add_rule(ctx, nft.place(table, chain, family), rule, "insert", *before)


@function
def delete(
    ctx: Context,
    table: str,
    chain: str = "",
    position: int | None = None,
    rule: str = "",
    family: str = "ipv4",
) -> Reply:
    """Delete a rule.

    Args:
        table: the table.
        chain: the chain.
        position: its handle, or
        rule: the rule, in the language of nft.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.delete mine input rule='tcp dport 22 accept' family=inet
        ```
    """
    if bool(position) == bool(rule):
        return answer(False, "give a position or a rule, and not both")
    where = nft.place(table, chain, family)
    found = [int(position)] if position else nft.handles(ctx, where, rule)
    if not found:
        return answer(False, f"Rule {rule} does not exist: {describe_place(where)}")
    return run_nft(ctx, where, "no longer has it", "delete", "rule", *where.path, "handle", str(found[0]))


@function
def flush(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> Reply:
    """Delete all rules of a chain.

    Args:
        table: the table.
        chain: the chain; all chains of the table if not given.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.flush mine input family=inet
        ```
    """
    where = nft.place(table, chain, family, whole_table=True)
    return run_nft(ctx, where, "flushed", "flush", "chain" if chain else "table", *where.path)


@function
def set_policy(
    ctx: Context, table: str = "filter", chain: str = "", policy: str = "", family: str = "ipv4"
) -> bool:
    """Set the policy of a chain with a hook. Returns true on success.

    Args:
        table: the table.
        chain: the chain.
        policy: ``accept`` or ``drop``.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.set_policy filter input drop family=inet
        ```
    """
    check_known(policy.lower(), nft.POLICIES, "policy")
    where = nft.place(table, chain, family)
    if "policy" not in (nft.chain(ctx, where) or {}):
        return False
    words = ("chain", *where.path, f"{{ policy {policy.lower()}; }}")
    return bool(run_nft(ctx, where, "set", *words)["result"])
