"""nftables through ``nft``: rules in force, saved rules, and how to change them."""

from __future__ import annotations

import os
import re

from msgspec import Struct, json

from saltern.modules.api.context import Context
from saltern.modules.api.programs import PLAIN_WORDS, error_text, missing_program, tool
from saltern.modules.api.refused import Refused, check_known, one_line
from saltern.modules.lib.firewalls import nft_code
from saltern.modules.lib.firewalls.nft_rule import FAMILIES
from saltern.system.process import NOT_FOUND

NAME = re.compile(r"[A-Za-z_][\w./\\-]*")
POLICIES = ("accept", "drop")
FILE = "/etc/nftables"
IN_DIRECTORY = "salt-all-in-one.nft"
NONE_SUCH = "No such file or directory"
Item = dict[str, object]


class Place(Struct, frozen=True, kw_only=True):
    """The chain of a rule. ``family`` is nft's name."""

    table: str
    chain: str = ""
    family: str = "ip"

    @property
    def path(self) -> list[str]:
        return [self.family, self.table, *([self.chain] if self.chain else [])]


def place(table: str, chain: str, family: str, *, whole_table: bool = False) -> Place:
    """The place, checked. Raises ``Refused`` for impossible names of tables, chains or families."""
    check_known(family, FAMILIES, "family")
    for name, what in ((table, "table"), (chain, "chain")):
        if not NAME.fullmatch(name) and (name or what == "table" or not whole_table):
            raise Refused(f"{what} cannot be {name!r}" if name else f"{what} is missing; name the {what}")
    return Place(table=table, chain=chain, family=FAMILIES[family])


def base(table_type: str | None, hook: str | None, priority: str | None) -> list[str]:
    """The declaration of a base chain, in nft's syntax."""
    given = (table_type, hook, priority)
    if not any(given):
        return []
    if not all(given):
        raise Refused("table_type, hook and priority belong together; give all three, or none")
    for one in given:
        one_line(str(one), "table_type, hook and priority", without=";{}")
    return [f"{{ type {table_type} hook {hook} priority {priority}; }}"]


def run(ctx: Context, *words: str) -> str:
    """Run nft, which joins its arguments and reads them as one line of its language."""
    for word in words:
        one_line(word, "a rule of nftables")
    return tool(ctx, "nft", "--", *words).out


def items(ctx: Context, kind: str, *what: str) -> list[Item]:
    """The objects of a kind (``table``, ``chain``, ``rule``), from nft's JSON."""
    answer = json.decode(tool(ctx, "nft", "--json", "--numeric", "list", *what).out or "{}", type=dict)
    return [one[kind] for one in answer.get("nftables", []) if kind in one]


def tables(ctx: Context, family: str) -> list[Item]:
    return [one for one in items(ctx, "table", "tables", family) if one.get("family") == family]


def chain(ctx: Context, where: Place) -> Item | None:
    """The data of a chain; None if the chain or its table does not exist."""
    alike = [
        one
        for one in items(ctx, "chain", "chains", where.family)
        if (one["family"], one["table"], one["name"]) == (where.family, where.table, where.chain)
    ]
    return alike[0] if alike else None


def has_table(ctx: Context, where: Place) -> bool:
    return any(one["name"] == where.table for one in tables(ctx, where.family))


def handles(ctx: Context, where: Place, rule: str) -> list[int]:
    """The handles of the rule in the chain. None if the chain does not exist: an earlier state may create it.

    Raises ``Refused`` for an invalid rule.
    """
    code = _meaning(ctx, where, rule)
    if chain(ctx, where) is None:
        return []
    printed = tool(ctx, "nft", "--debug=netlink", "list", "chain", *where.path).out
    return [one.handle for one in nft_code.rules(printed) if one.code == code]


def _meaning(ctx: Context, where: Place, rule: str) -> nft_code.Code:
    """The rule's code, without adding it. Missing chains or sets do not matter."""
    if not rule:
        raise Refused("the rule is empty; give it at least a jump")
    one_line(rule, "a rule of nftables", without=";")
    argv = ["nft", "--check", "--debug=netlink", "--", "add", "rule", *where.path, rule]
    ran = ctx.host.run(argv, env=PLAIN_WORDS)
    if ran.code == NOT_FOUND:
        raise Refused(missing_program("nft", "nftables"))
    found = nft_code.rules(ran.out)
    if len(found) == 1 and (ran.code == 0 or NONE_SUCH in ran.err):
        return found[0].code
    why = (
        error_text(ran).partition("\n")[0]
        if ran.code
        else "this nft cannot print the code of a rule (--debug)"
    )
    raise Refused(f"{rule}: {why}")


def rule_lines(ctx: Context, where: Place) -> dict[int, str]:
    """The rules of a chain by handle, in nft's syntax and without counters."""
    if chain(ctx, where) is None:
        return {}
    lines = tool(ctx, "nft", "--stateless", "--handle", "list", "chain", *where.path).out.splitlines()
    found = (re.fullmatch(r"\s*(?P<rule>.+) # handle (?P<handle>\d+)", line) for line in lines)
    return {int(one["handle"]): one["rule"] for one in found if one and not one["rule"].endswith("{")}


# -- what is kept ----------------------------------------------------------------------------------


def file_of(ctx: Context, save: object) -> str:
    """The file for ``save``: the default one if true, or a path; empty if nothing is saved."""
    if save in (None, False, ""):
        return ""
    path = FILE if save is True else str(save)
    if not os.path.isabs(path):
        raise Refused(f"save needs true or the absolute path of a file, got {save!r}")
    return os.path.join(path, IN_DIRECTORY) if ctx.host.is_directory(path) else path


def current(ctx: Context) -> str:
    """All tables in force, as a file that nft can load."""
    return "#!/usr/sbin/nft -f\n\n" + tool(ctx, "nft", "--stateless", "list", "ruleset").out


def kept_lines(ctx: Context, where: Place, file: str) -> list[str]:
    """The lines of a chain in the file."""
    found: list[str] = []
    table = chain = ""
    for line in (ctx.host.read(file) or "").splitlines():
        words = line.split()
        if line.startswith("table ") and len(words) > 2:
            table, chain = " ".join(words[1:3]), ""
        elif words[:1] == ["chain"] and len(words) > 1:
            chain = words[1]
        elif words == ["}"]:
            chain = ""
        elif words and (table, chain) == (f"{where.family} {where.table}", where.chain):
            found.append(line.strip())
    return found


def is_kept(ctx: Context, where: Place, rule: str, file: str) -> bool:
    """True if a rule is in the file exactly if it is in force. Other rules are not compared."""
    lines, now = kept_lines(ctx, where, file), rule_lines(ctx, where)
    found = [now[handle] for handle in handles(ctx, where, rule) if handle in now]
    if found:
        return all(one in lines for one in found)
    code = _meaning(ctx, where, rule)
    extra = [line for line in lines if line not in now.values() and not line.startswith("type ")]
    return all(_meaning(ctx, where, line) != code for line in extra)


def policy_is_kept(ctx: Context, where: Place, policy: str, file: str) -> bool:
    return any(f"policy {policy};" in line for line in kept_lines(ctx, where, file))


def save(ctx: Context, file: str) -> None:
    if file:
        ctx.host.makedirs(os.path.dirname(file))
        ctx.host.write(file, current(ctx))
