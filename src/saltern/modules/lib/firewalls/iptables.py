"""iptables through its own programs: rules in force, saved rules, and how to change them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import PLAIN_WORDS, error_text, missing_program, tool
from saltern.modules.api.refused import Refused, check_known
from saltern.modules.lib.firewalls import iptables_saved
from saltern.system.process import NOT_FOUND, Ran

PROGRAMS: Mapping[str, str] = {"ipv4": "iptables", "ipv6": "ip6tables"}

# The file of rules that is loaded at boot: os_family or os → file, by family.
FILES: Mapping[str, tuple[str, str]] = {
    "RedHat": ("/etc/sysconfig/iptables", "/etc/sysconfig/ip6tables"),
    "Arch": ("/etc/iptables/iptables.rules", "/etc/iptables/ip6tables.rules"),
    "Debian": ("/etc/iptables/rules.v4", "/etc/iptables/rules.v6"),
    "Gentoo": ("/var/lib/iptables/rules-save", "/var/lib/ip6tables/rules-save"),
    "Suse": ("/etc/sysconfig/scripts/SuSEfirewall2-custom",) * 2,
    "Void": ("/etc/iptables/iptables.rules", "/etc/iptables/ip6tables.rules"),
    "Alpine": ("/etc/iptables/rules-save", "/etc/iptables/rules6-save"),
    "NILinuxRT": ("/etc/natinst/share/iptables.conf", "/etc/natinst/share/ip6tables.conf"),
}
NO_TARGET_YET = re.compile(r"Chain '.*' does not exist|Couldn't load target")
NAME = re.compile(r"[^\s!-][^\s]*")


Chain = tuple[str, list[str]]  # policy and rules, as printed


class Place(Struct, frozen=True, kw_only=True):
    """The chain of a rule."""

    table: str = "filter"
    chain: str = ""
    family: str = "ipv4"


class Table(Struct, frozen=True):
    """The table in force: chains with their policy (None for a user's chain) and rules."""

    policies: dict[str, str | None]
    rules: dict[str, list[str]]


def place(table: str, chain: str, family: str, *, whole_table: bool = False) -> Place:
    """The place, checked. Raises ``Refused`` for impossible names of tables, chains or families."""
    check_known(family, PROGRAMS, "family")
    for name, what in ((table, "table"), (chain, "chain")):
        if not NAME.fullmatch(name) and (name or not whole_table):
            raise Refused(f"{what} cannot be {name!r}" if name else f"{what} is missing; name the {what}")
    return Place(table=table, chain=chain, family=family)


def run(ctx: Context, where: Place, *args: str, accept: tuple[int, ...] = (0,)) -> Ran:
    """Run iptables on the table of a place; waits if another iptables is running."""
    return tool(ctx, PROGRAMS[where.family], "-w", "-t", where.table, *args, accept=accept)


def read(ctx: Context, where: Place) -> Table:
    """All chains of the table. Raises ``Refused`` if there is no such table."""
    policies: dict[str, str | None] = {}
    rules: dict[str, list[str]] = {}
    for line in run(ctx, where, "-S").out.splitlines():
        kind, _, rest = line.partition(" ")
        chain, _, what = rest.partition(" ")
        if kind in ("-P", "-N"):
            policies[chain] = what.split()[0] if kind == "-P" else None
            rules[chain] = []
        elif kind == "-A":
            rules[chain].append(what)
    return Table(policies, rules)


def holds(ctx: Context, where: Place, rule: Sequence[str]) -> bool:
    """True if the chain has the rule, as iptables itself compares them.

    A chain or a target chain that does not exist has none: an earlier state may still create it. Raises
    ``Refused`` for an invalid rule.
    """
    argv = [PROGRAMS[where.family], "-w", "-t", where.table, "-C", where.chain, *rule]
    ran = ctx.host.run(argv, env=PLAIN_WORDS)
    if ran.code == NOT_FOUND:
        raise Refused(missing_program(argv[0], "iptables"))
    if ran.code < 2 or NO_TARGET_YET.search(ran.err):
        return ran.code == 0
    raise Refused(
        f"{' '.join(argv)}: {error_text(ran).splitlines()[0] if error_text(ran) else f'exit code {ran.code}'}"
    )


def position(ctx: Context, where: Place, number: int) -> int:
    """A position from the end (-1 is before the last rule) as one from the beginning."""
    if number >= 1:
        return number
    if number == 0:
        raise Refused("position counts from 1, or from -1 at the end")
    return max(len(read(ctx, where).rules.get(where.chain, [])) + number + 1, 1)


# -- what is kept ----------------------------------------------------------------------------------


def file_of(ctx: Context, family: str) -> str:
    """The file of this machine's saved rules. Raises ``Refused`` if it is unknown."""
    for grain in ("os_family", "os"):
        found = FILES.get(str(ctx.grains.get(grain)))
        if found:
            return found[family == "ipv6"]
    raise Refused(
        f"the file of saved rules on {ctx.grains.get('os')} is unknown; set save to the path of a file"
    )


def current(ctx: Context, family: str) -> str:
    """All rules in force, as ``iptables-save`` prints them, without the filtered ones."""
    kept = tool(ctx, f"{PROGRAMS[family]}-save").out
    option = ctx.functions["config.option"]("iptables.save_filters", [])
    filters = [_pattern(str(one)) for one in (option if isinstance(option, list) else [])]
    if not filters:
        return kept
    lines = kept.splitlines(keepends=True)
    return "".join(line for line in lines if not any(one.search(line) for one in filters))


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as problem:
        raise Refused(f"iptables.save_filters: {text!r} is not a pattern: {problem}") from None


def save(ctx: Context, family: str, file: str) -> None:
    ctx.host.makedirs(os.path.dirname(file))
    ctx.host.write(file, current(ctx, family))


def is_kept(ctx: Context, where: Place, file: str, rule: Sequence[str]) -> bool:
    """True if a rule is in the file exactly if it is in force. Other rules are not compared."""
    kept, now = _both(ctx, where, file)
    unlike = [one for one in kept[1] if one not in now[1]] + [one for one in now[1] if one not in kept[1]]
    return not any(iptables_saved.resembles(line, rule) for line in unlike)


def policy_is_kept(ctx: Context, where: Place, file: str) -> bool:
    kept, now = _both(ctx, where, file)
    return kept[0] == now[0]


def _both(ctx: Context, where: Place, file: str) -> tuple[Chain, Chain]:
    """The chain in the file, and the chain in force."""
    texts = (ctx.host.read(file) or "", current(ctx, where.family))
    kept, now = (iptables_saved.chains(text, where.table).get(where.chain, ("", [])) for text in texts)
    return kept, now
