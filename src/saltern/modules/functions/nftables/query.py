"""Functions of ``nftables`` that query tables, chains and rules."""

from __future__ import annotations

from msgspec import json

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import check_known
from saltern.modules.functions.nftables.answers import Reply, answer, describe_place
from saltern.modules.lib.firewalls import nft, nft_rule
from saltern.modules.lib.firewalls.nft_rule import FAMILIES


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
) -> Reply:
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
    check_known(family, FAMILIES, "family")
    rule = nft_rule.text(options, family)
    if str(full).lower() == "true":
        for value, what in ((table, "table"), (chain, "chain"), (command, "command")):
            if not value:
                return answer(False, f"{what} is missing; the whole command needs it", rule="")
        before = f"position {position}" if position else ""
        parts = ("nft", command.lower(), "rule", FAMILIES[family], table, chain, before, rule)
        rule = " ".join(part for part in parts if part)
    return answer(True, "Successfully built rule", rule=rule)


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
    check_known(family, FAMILIES, "family")
    return nft.tables(ctx, FAMILIES[family])


@function
def get_rules(ctx: Context, family: str = "ipv4") -> list[str]:
    """The tables in force, each in the syntax of nft.

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
    """Everything in force, as the JSON output of nft.

    Args:
        family: ``ipv4``, ``ipv6``, ``inet`` …

    Example:
        ```console
        $ saltern call nftables.get_rules_json family=inet
        ```
    """
    check_known(family, FAMILIES, "family")
    out = tool(ctx, "nft", "--numeric", "--json", "list", "ruleset", FAMILIES[family]).out
    return list(json.decode(out, type=dict).get("nftables", []))


@function
def get_saved_rules(ctx: Context, conf_file: str | None = None) -> list[str]:
    """The lines of the file of saved rules, without blank lines and comments.

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
def check_table(ctx: Context, table: str = "", family: str = "ipv4") -> Reply:
    """Whether a table exists.

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
    return answer(there, f"{describe_place(where)} {'exists' if there else 'does not exist'}")


@function
def check_chain(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> Reply:
    """Whether a chain exists.

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
    return answer(there, f"{describe_place(where)} {'exists' if there else 'does not exist'}")


@function
def check(
    ctx: Context, table: str = "filter", chain: str = "", rule: str = "", family: str = "ipv4"
) -> Reply:
    """Whether a chain has a rule with the same meaning.

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
    return answer(there, f"{what} {'exists' if there else 'does not exist'}")


@function
def get_rule_handle(
    ctx: Context, table: str = "filter", chain: str = "", rule: str = "", family: str = "ipv4"
) -> Reply:
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
        return answer(False, f"Could not find rule {rule}")
    return {"result": True, "handle": str(found[0])}


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
