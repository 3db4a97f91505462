"""``nftables``: look at the kernel's packet filter, and change it.

Functions that change or check something answer ``{"result": …, "comment": …}``, as Salt's do.
"""

from __future__ import annotations

from saltern.modules.api import function
from saltern.modules.context import Context
from saltern.modules.firewalls import nft, nft_rule
from saltern.modules.firewalls.nft import Place
from saltern.modules.firewalls.nft_rule import FAMILIES
from saltern.modules.machine import Refused, known, tool

Answer = dict[str, object]


def _answer(result: bool, comment: str, **more: object) -> Answer:
    return {"result": result, "comment": comment, **more}


def _shown(where: Place) -> str:
    what = f"Chain {where.chain} in table" if where.chain else "Table"
    return f"{what} {where.table} in family {where.family}"


def _done(ctx: Context, where: Place, verb: str, *words: str) -> Answer:
    """Let nft do it; what it has against it is the comment."""
    try:
        nft.run(ctx, *words)
    except Refused as refused:
        return _answer(False, str(refused))
    return _answer(True, f"{_shown(where)} {verb}")


@function
def version(ctx: Context) -> str:
    """The version of nft.

    Example:
        ```console
        $ saltern call nftables.version
        ```
    """
    return tool(ctx, "nft", "--version").out.split()[1]


@function
def build_rule(
    ctx: Context,  # noqa: ARG001 - Salt's signature
    /,
    table: str = "",
    chain: str = "",
    command: str = "",
    position: object = "",
    full: object = None,
    family: str = "ipv4",
    **options: object,
) -> Answer:
    """The text of a rule, or of the whole command, as ``rule``.

    Args:
        table: the table.
        chain: the chain.
        command: ``add``, ``insert`` or ``delete``.
        position: the handle of another rule, for the whole command.
        full: the whole command, not only the rule.
        family: ``ipv4``, ``ipv6``, ``inet`` …
        **options: the rule, as in the state ``nftables.append``.

    Example:
        ```console
        $ saltern call nftables.build_rule proto=tcp dport=80 jump=accept
        ```
    """
    known(family, FAMILIES, "family")
    rule = nft_rule.text(options, family)
    if str(full).lower() == "true":
        for value, what in ((table, "table"), (chain, "chain"), (command, "command")):
            if not value:
                return _answer(False, f"{what} is missing; the whole command needs it", rule="")
        before = f"position {position}" if position else ""
        parts = ("nft", command.lower(), "rule", FAMILIES[family], table, chain, before, rule)
        rule = " ".join(part for part in parts if part)
    return _answer(True, "Successfully built rule", rule=rule)


@function
def list_tables(ctx: Context, family: str = "ipv4") -> list[nft.Item]:
    """The tables in force.

    Args:
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.list_tables family=inet
        ```
    """
    known(family, FAMILIES, "family")
    return nft.tables(ctx, FAMILIES[family])


@function
def get_rules(ctx: Context, family: str = "ipv4") -> list[str]:
    """The tables in force, each in the language of nft.

    Args:
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.get_rules family=inet
        ```
    """
    names = [str(one["name"]) for one in list_tables(ctx, family)]
    return [tool(ctx, "nft", "--numeric", "list", "table", FAMILIES[family], name).out for name in names]


@function
def get_rules_json(ctx: Context, family: str = "ipv4") -> list[nft.Item]:
    """Everything in force, as the JSON of nft has it.

    Args:
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.get_rules_json family=inet
        ```
    """
    from msgspec import json

    known(family, FAMILIES, "family")
    out = tool(ctx, "nft", "--numeric", "--json", "list", "ruleset", FAMILIES[family]).out
    return list(json.decode(out, type=dict).get("nftables", []))


@function
def get_saved_rules(ctx: Context, conf_file: str | None = None) -> list[str]:
    """The lines of the file that keeps the rules, without blank ones and remarks.

    Args:
        conf_file: the file; /etc/nftables if not given.

    Example:
        ```console
        $ saltern call nftables.get_saved_rules
        ```
    """
    text = ctx.host.read(nft.file_of(ctx, conf_file or True)) or ""
    return [line for line in text.splitlines(keepends=True) if line.strip() and line.strip()[0] != "#"]


@function
def save(ctx: Context, filename: str | None = None, family: str = "ipv4") -> str:  # noqa: ARG001
    """Keep all tables in force in a file; its content.

    Args:
        filename: the file; /etc/nftables if not given.
        family: of no effect; all families are kept.

    Example:
        ```console
        $ saltern call nftables.save
        ```
    """
    nft.save(ctx, nft.file_of(ctx, filename or True))
    return nft.current(ctx)


@function
def check_table(ctx: Context, table: str = "", family: str = "ipv4") -> Answer:
    """Whether there is a table.

    Args:
        table: the table.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.check_table filter family=inet
        ```
    """
    where = nft.place(table, "", family, whole_table=True)
    there = nft.has_table(ctx, where)
    return _answer(there, f"{_shown(where)} {'exists' if there else 'does not exist'}")


@function
def check_chain(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> Answer:
    """Whether there is a chain.

    Args:
        table: the table.
        chain: the chain.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.check_chain filter input family=inet
        ```
    """
    where = nft.place(table, chain, family)
    there = nft.chain(ctx, where) is not None
    return _answer(there, f"{_shown(where)} {'exists' if there else 'does not exist'}")


@function
def check(
    ctx: Context, table: str = "filter", chain: str = "", rule: str = "", family: str = "ipv4"
) -> Answer:
    """Whether a chain has a rule that does the same.

    Args:
        table: the table.
        chain: the chain.
        rule: the rule, in the language of nft.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.check filter input rule='tcp dport 22 accept' family=inet
        ```
    """
    there = bool(nft.handles(ctx, nft.place(table, chain, family), rule))
    what = f"Rule {rule} in chain {chain} in table {table} in family {family}"
    return _answer(there, f"{what} {'exists' if there else 'does not exist'}")


@function
def get_rule_handle(
    ctx: Context, table: str = "filter", chain: str = "", rule: str = "", family: str = "ipv4"
) -> Answer:
    """The handle of a rule.

    Args:
        table: the table.
        chain: the chain.
        rule: the rule, in the language of nft.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.get_rule_handle filter input rule='tcp dport 22 accept' family=inet
        ```
    """
    found = nft.handles(ctx, nft.place(table, chain, family), rule)
    if not found:
        return _answer(False, f"Could not find rule {rule}")
    return {"result": True, "handle": str(found[0])}


@function
def new_table(ctx: Context, table: str, family: str = "ipv4") -> Answer:
    """Make a table.

    Args:
        table: the table.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.new_table mine family=inet
        ```
    """
    where = nft.place(table, "", family, whole_table=True)
    return _done(ctx, where, "created", "add", "table", *where.path)


@function
def delete_table(ctx: Context, table: str, family: str = "ipv4") -> Answer:
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
    return _done(ctx, where, "deleted", "delete", "table", *where.path)


@function
def new_chain(
    ctx: Context,
    table: str = "filter",
    chain: str = "",
    table_type: str | None = None,
    hook: str | None = None,
    priority: object = None,
    family: str = "ipv4",
) -> Answer:
    """Make a chain.

    Args:
        table: the table.
        chain: the chain.
        table_type: ``filter``, ``nat`` or ``route``, for a chain that packets reach by themselves.
        hook: where they reach it.
        priority: its order among the chains of the hook.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.new_chain mine input table_type=filter hook=input priority=0 family=inet
        ```
    """
    where = nft.place(table, chain, family)
    if nft.chain(ctx, where) is not None:
        return _answer(False, f"{_shown(where)} already exists")
    base = nft.base(table_type, hook, None if priority is None else str(priority))
    return _done(ctx, where, "created", "add", "chain", *where.path, *base)


@function
def delete_chain(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> Answer:
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
    return _done(ctx, where, "deleted", "delete", "chain", *where.path)


@function
def append(
    ctx: Context, table: str = "filter", chain: str = "", rule: str = "", family: str = "ipv4"
) -> Answer:
    """Append a rule that is not there yet.

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
    return _added(ctx, nft.place(table, chain, family), rule, "add")


def _added(ctx: Context, where: Place, rule: str, command: str, *before: str) -> Answer:
    if nft.handles(ctx, where, rule):
        return _answer(False, f"Rule {rule} is already there: {_shown(where)}")
    return _done(ctx, where, f"has the rule {rule} now", command, "rule", *where.path, *before, rule)


@function
def insert(
    ctx: Context,
    table: str = "filter",
    chain: str = "",
    position: int | None = None,
    rule: str = "",
    family: str = "ipv4",
) -> Answer:
    """Insert a rule that is not there yet, first or before another one.

    Args:
        table: the table.
        chain: the chain.
        position: the handle of the rule it comes before.
        rule: the rule, in the language of nft.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.insert mine input rule='tcp dport 22 accept' family=inet
        ```
    """
    before = ["position", str(int(position))] if position else []
    return _added(ctx, nft.place(table, chain, family), rule, "insert", *before)


@function
def delete(
    ctx: Context,
    table: str,
    chain: str = "",
    position: int | None = None,
    rule: str = "",
    family: str = "ipv4",
) -> Answer:
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
        return _answer(False, "give a position or a rule, and not both")
    where = nft.place(table, chain, family)
    found = [int(position)] if position else nft.handles(ctx, where, rule)
    if not found:
        return _answer(False, f"Rule {rule} is not there: {_shown(where)}")
    return _done(ctx, where, "has it no more", "delete", "rule", *where.path, "handle", str(found[0]))


@function
def flush(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> Answer:
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
    return _done(ctx, where, "flushed", "flush", "chain" if chain else "table", *where.path)


@function
def get_policy(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> str | None:
    """The policy of a chain; None if it has none.

    Args:
        table: the table.
        chain: the chain.
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.get_policy filter input family=inet
        ```
    """
    found = nft.chain(ctx, nft.place(table, chain, family)) or {}
    policy = found.get("policy")
    return None if policy is None else str(policy)


@function
def set_policy(
    ctx: Context, table: str = "filter", chain: str = "", policy: str = "", family: str = "ipv4"
) -> bool:
    """Set the policy of a chain with a hook; whether it worked.

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
    known(policy.lower(), nft.POLICIES, "policy")
    where = nft.place(table, chain, family)
    if get_policy(ctx, table, chain, family) is None:
        return False
    words = ("chain", *where.path, f"{{ policy {policy.lower()}; }}")
    return bool(_done(ctx, where, "set", *words)["result"])
