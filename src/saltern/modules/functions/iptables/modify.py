"""Functions of ``iptables`` that change something."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.programs import error_text
from saltern.modules.api.refused import Refused, check_known
from saltern.modules.lib.firewalls import iptables, iptables_rule
from saltern.modules.lib.firewalls.iptables import PROGRAMS


def _there(ctx: Context, table: str, chain: str, rule: str, family: str) -> bool:
    return iptables.holds(ctx, iptables.place(table, chain, family), iptables_rule.split(rule))


def _run_iptables(ctx: Context, table: str, chain: str, family: str, *args: str) -> str:
    """Run iptables. Returns its error message, as Salt does; empty on success."""
    where = iptables.place(table, chain, family, whole_table=args[0] == "-F")
    ran = iptables.run(ctx, where, *args, accept=(0, 1, 2, 3, 4))
    return error_text(ran) or f"exit code {ran.code}" if ran.code else ""


@function
def set_policy(
    ctx: Context, table: str = "filter", chain: str = "", policy: str = "", family: str = "ipv4"
) -> str:
    """Set the policy of a built-in chain. Returns the error of iptables; empty on success.

    Args:
        table: the table.
        chain: the chain.
        policy: ``ACCEPT`` or ``DROP``.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.set_policy filter FORWARD DROP
        ```
    """
    return _run_iptables(ctx, table, chain, family, "-P", chain, policy)


@function
def save(ctx: Context, filename: str | None = None, family: str = "ipv4") -> str:
    """Save the rules in force to a file. Returns its path.

    Args:
        filename: the file; the one that the machine loads at boot if not given.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.save
        ```
    """
    check_known(family, PROGRAMS, "family")
    file = filename or iptables.file_of(ctx, family)
    iptables.save(ctx, family, file)
    return file


@function
def new_chain(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> bool | str:
    """Create a chain. Returns true, or the error of iptables.

    Args:
        table: the table.
        chain: the chain.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.new_chain filter LOGDROP
        ```
    """
    return _run_iptables(ctx, table, chain, family, "-N", chain) or True


@function
def delete_chain(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> bool | str:
    """Delete an empty chain. Returns true, or the error of iptables.

    Args:
        table: the table.
        chain: the chain.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.delete_chain filter LOGDROP
        ```
    """
    return _run_iptables(ctx, table, chain, family, "-X", chain) or True


@function
def append(
    ctx: Context, table: str = "filter", chain: str = "", rule: str = "", family: str = "ipv4"
) -> bool:
    """Append a rule unless it exists. Returns true if it was appended.

    Args:
        table: the table.
        chain: the chain.
        rule: the rule, as on the command line of iptables.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.append filter INPUT rule='-p tcp --dport 80 -j ACCEPT'
        ```
    """
    if _there(ctx, table, chain, rule, family):
        return False
    return not _run_iptables(ctx, table, chain, family, "-A", chain, *iptables_rule.split(rule))


@function
def insert(
    ctx: Context,
    table: str = "filter",
    chain: str = "",
    position: int = 1,
    rule: str = "",
    family: str = "ipv4",
) -> str | bool:
    """Insert a rule unless it exists. Returns the error of iptables, empty on success, or false if it exists.

    Args:
        table: the table.
        chain: the chain.
        position: its position, from 1, or backwards from -1 (before the last rule).
        rule: the rule, as on the command line of iptables.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.insert filter INPUT 1 rule='-i lo -j ACCEPT'
        ```
    """
    if _there(ctx, table, chain, rule, family):
        return False
    number = iptables.position(ctx, iptables.place(table, chain, family), int(position))
    return _run_iptables(ctx, table, chain, family, "-I", chain, str(number), *iptables_rule.split(rule))


@function
def delete(
    ctx: Context,
    table: str,
    chain: str = "",
    position: int | None = None,
    rule: str = "",
    family: str = "ipv4",
) -> str:
    """Delete a rule. Returns the error of iptables; empty on success.

    Args:
        table: the table.
        chain: the chain.
        position: its position, or
        rule: the rule, as on the command line of iptables.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.delete filter INPUT rule='-p tcp --dport 80 -j ACCEPT'
        ```
    """
    if bool(position) == bool(rule):
        raise Refused("give a position or a rule, and not both")
    what = [str(position)] if position else iptables_rule.split(rule)
    return _run_iptables(ctx, table, chain, family, "-D", chain, *what)


@function
def flush(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> str:
    """Delete all rules of a chain. Returns the error of iptables; empty on success.

    Args:
        table: the table.
        chain: the chain; all chains of the table if not given.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.flush nat POSTROUTING
        ```
    """
    return _run_iptables(ctx, table, chain, family, "-F", *([chain] if chain else []))
