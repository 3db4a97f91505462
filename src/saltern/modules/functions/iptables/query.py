"""Functions of ``iptables`` that query rules, in force or saved."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused, check_known
from saltern.modules.lib.firewalls import iptables, iptables_rule, iptables_saved
from saltern.modules.lib.firewalls.iptables import PROGRAMS


@function
def version(ctx: Context, family: str = "ipv4") -> str:
    """The version of iptables.

    Args:
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.version
        ```
    """
    check_known(family, PROGRAMS, "family")
    return tool(ctx, PROGRAMS[family], "--version").out.split()[1]


@function
def build_rule(
    ctx: Context,  # noqa: ARG001 - Salt's signature
    /,
    table: str = "filter",
    chain: str = "",
    command: str = "",
    position: object = "",
    full: object = None,
    family: str = "ipv4",
    **options: object,
) -> str:
    """The text of a rule, or of the whole command.

    Args:
        table: the table.
        chain: the chain.
        command: the command: ``A``, ``I``, ``D`` …; or a long name such as ``append``.
        position: the position of the rule, for the whole command.
        full: the whole command, not only the rule.
        family: ``ipv4`` or ``ipv6``.
        **options: the rule, as in the state ``iptables.append``.

    Example:
        ```console
        $ saltern call iptables.build_rule proto=tcp dport=80 jump=ACCEPT
        ```
    """
    rule = iptables_rule.text(iptables_rule.words(options))
    if str(full).lower() != "true":
        return rule
    for value, what in ((chain, "chain"), (command, "command")):
        if not value:
            raise Refused(f"{what} is missing; the whole command needs it")
    check_known(family, PROGRAMS, "family")
    flag = f"-{command}" if len(command) == 1 else f"--{command}"
    parts = (PROGRAMS[family], "--wait", "-t", table, flag, chain, str(position), rule)
    return " ".join(part for part in parts if part)


@function
def get_rules(ctx: Context, family: str = "ipv4") -> dict[str, dict[str, dict[str, object]]]:
    """The rules in force, by table and chain.

    Args:
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.get_rules
        ```
    """
    check_known(family, PROGRAMS, "family")
    return iptables_saved.data(tool(ctx, f"{PROGRAMS[family]}-save").out)


@function
def get_saved_rules(
    ctx: Context, conf_file: str | None = None, family: str = "ipv4"
) -> dict[str, dict[str, dict[str, object]]]:
    """The rules saved in a file, by table and chain.

    Args:
        conf_file: the file; the machine's own if not given.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.get_saved_rules
        ```
    """
    check_known(family, PROGRAMS, "family")
    return iptables_saved.data(ctx.host.read(conf_file or iptables.file_of(ctx, family)) or "")


@function
def get_policy(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> str | None:
    """The current policy of a built-in chain.

    Args:
        table: the table.
        chain: the chain.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.get_policy filter INPUT
        ```
    """
    return iptables.read(ctx, iptables.place(table, chain, family)).policies.get(chain)


@function
def get_saved_policy(
    ctx: Context,
    table: str = "filter",
    chain: str = "",
    conf_file: str | None = None,
    family: str = "ipv4",
) -> str | None:
    """The policy of a chain saved in a file.

    Args:
        table: the table.
        chain: the chain.
        conf_file: the file; the machine's own if not given.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.get_saved_policy filter INPUT
        ```
    """
    where = iptables.place(table, chain, family)
    kept = ctx.host.read(conf_file or iptables.file_of(ctx, family)) or ""
    found = iptables_saved.chains(kept, where.table).get(chain)
    return found[0] if found else None


@function
def check(ctx: Context, table: str = "filter", chain: str = "", rule: str = "", family: str = "ipv4") -> bool:
    """True if a chain has a rule.

    Args:
        table: the table.
        chain: the chain.
        rule: the rule, as on the command line of iptables.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.check filter INPUT rule='-p tcp --dport 80 -j ACCEPT'
        ```
    """
    return iptables.holds(ctx, iptables.place(table, chain, family), iptables_rule.split(rule))


@function
def check_chain(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> bool:
    """True if a chain exists.

    Args:
        table: the table.
        chain: the chain.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.check_chain filter INPUT
        ```
    """
    return chain in iptables.read(ctx, iptables.place(table, chain, family)).policies
