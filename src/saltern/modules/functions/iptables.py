"""``iptables``: look at the kernel's packet filter, and change it."""

from __future__ import annotations

from saltern.modules.api import function
from saltern.modules.context import Context
from saltern.modules.firewalls import iptables, iptables_rule, iptables_saved
from saltern.modules.firewalls.iptables import PROGRAMS
from saltern.modules.machine import Refused, known, said, tool


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
    known(family, PROGRAMS, "family")
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
        command: what to do: ``A``, ``I``, ``D`` …; or a long name such as ``append``.
        position: the number of the rule, for the whole command.
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
    known(family, PROGRAMS, "family")
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
    known(family, PROGRAMS, "family")
    return iptables_saved.data(tool(ctx, f"{PROGRAMS[family]}-save").out)


@function
def get_saved_rules(
    ctx: Context, conf_file: str | None = None, family: str = "ipv4"
) -> dict[str, dict[str, dict[str, object]]]:
    """The rules that a file keeps, by table and chain.

    Args:
        conf_file: the file; the machine's own if not given.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.get_saved_rules
        ```
    """
    known(family, PROGRAMS, "family")
    return iptables_saved.data(ctx.host.read(conf_file or iptables.file_of(ctx, family)) or "")


@function
def get_policy(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> str | None:
    """The policy of a built-in chain in force.

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
    """The policy of a chain that a file keeps.

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
def set_policy(
    ctx: Context, table: str = "filter", chain: str = "", policy: str = "", family: str = "ipv4"
) -> str:
    """Set the policy of a built-in chain; empty, or what iptables has against it.

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
    return _done(ctx, table, chain, family, "-P", chain, policy)


def _done(ctx: Context, table: str, chain: str, family: str, *args: str) -> str:
    """What iptables says of a failure, in Salt's manner; empty if there was none."""
    where = iptables.place(table, chain, family, whole_table=args[0] == "-F")
    ran = iptables.run(ctx, where, *args, accept=(0, 1, 2, 3, 4))
    return said(ran) or f"exit code {ran.code}" if ran.code else ""


@function
def save(ctx: Context, filename: str | None = None, family: str = "ipv4") -> str:
    """Keep the rules in force in a file; its path.

    Args:
        filename: the file; where the machine looks for them at boot if not given.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.save
        ```
    """
    known(family, PROGRAMS, "family")
    file = filename or iptables.file_of(ctx, family)
    iptables.save(ctx, family, file)
    return file


@function
def check(ctx: Context, table: str = "filter", chain: str = "", rule: str = "", family: str = "ipv4") -> bool:
    """Whether a chain has a rule.

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
    """Whether there is a chain.

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


@function
def new_chain(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> bool | str:
    """Make a chain; true, or what iptables has against it.

    Args:
        table: the table.
        chain: the chain.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.new_chain filter LOGDROP
        ```
    """
    return _done(ctx, table, chain, family, "-N", chain) or True


@function
def delete_chain(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> bool | str:
    """Delete an empty chain; true, or what iptables has against it.

    Args:
        table: the table.
        chain: the chain.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.delete_chain filter LOGDROP
        ```
    """
    return _done(ctx, table, chain, family, "-X", chain) or True


@function
def append(
    ctx: Context, table: str = "filter", chain: str = "", rule: str = "", family: str = "ipv4"
) -> bool:
    """Append a rule that is not there yet; whether it was.

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
    if check(ctx, table, chain, rule, family):
        return False
    return not _done(ctx, table, chain, family, "-A", chain, *iptables_rule.split(rule))


@function
def insert(
    ctx: Context,
    table: str = "filter",
    chain: str = "",
    position: int = 1,
    rule: str = "",
    family: str = "ipv4",
) -> str | bool:
    """Insert a rule that is not there yet: empty, what iptables has against it, or false if it is there.

    Args:
        table: the table.
        chain: the chain.
        position: the number it gets, from 1, or from -1 (before the last rule) backwards.
        rule: the rule, as on the command line of iptables.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.insert filter INPUT 1 rule='-i lo -j ACCEPT'
        ```
    """
    if check(ctx, table, chain, rule, family):
        return False
    number = iptables.position(ctx, iptables.place(table, chain, family), int(position))
    return _done(ctx, table, chain, family, "-I", chain, str(number), *iptables_rule.split(rule))


@function
def delete(
    ctx: Context,
    table: str,
    chain: str = "",
    position: int | None = None,
    rule: str = "",
    family: str = "ipv4",
) -> str:
    """Delete a rule; empty, or what iptables has against it.

    Args:
        table: the table.
        chain: the chain.
        position: its number, or
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
    return _done(ctx, table, chain, family, "-D", chain, *what)


@function
def flush(ctx: Context, table: str = "filter", chain: str = "", family: str = "ipv4") -> str:
    """Delete all rules of a chain; empty, or what iptables has against it.

    Args:
        table: the table.
        chain: the chain; all chains of the table if not given.
        family: ``ipv4`` or ``ipv6``.

    Example:
        ```console
        $ saltern call iptables.flush nat POSTROUTING
        ```
    """
    return _done(ctx, table, chain, family, "-F", *([chain] if chain else []))
