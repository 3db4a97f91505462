"""The rules of an ``iptables`` state: their chains, options, and the file that saves them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes
from saltern.modules.api.refused import Refused
from saltern.modules.lib.firewalls import iptables
from saltern.modules.lib.firewalls.iptables import Place
from saltern.modules.lib.firewalls.iptables_rule import text, words


class DesiredIptablesRule(Struct, frozen=True, kw_only=True):
    """One rule. ``file`` is where it is saved; empty if it is not."""

    name: str
    where: Place
    rule: tuple[str, ...]
    file: str = ""
    position: int = 0

    @property
    def shown(self) -> str:
        return text(self.rule)


def desired_rules(
    ctx: Context, name: str, given: Mapping[str, object], *, position: int = 0
) -> list[DesiredIptablesRule]:
    """The rule of a state, or all of its ``rules``."""
    rules = given.get("rules")
    if rules is None:
        return [_desired_rule(ctx, name, given, position)]
    if not isinstance(rules, list) or not all(isinstance(one, Mapping) for one in rules):
        raise Refused("rules needs a list of mappings, each with the arguments of one rule")
    return [_desired_rule(ctx, str(one.get("name", name)), one, position) for one in rules]


def _desired_rule(ctx: Context, name: str, given: Mapping[str, object], position: int) -> DesiredIptablesRule:
    family = str(given.get("family", "ipv4"))
    where = iptables.place(str(given.get("table", "filter")), str(given.get("chain") or ""), family)
    return DesiredIptablesRule(
        name=name,
        where=where,
        rule=tuple(words(given)),
        file=file_of(ctx, given.get("save"), family),
        position=_number(given.get("position", position)),
    )


def _number(value: object) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise Refused(f"position needs a number, got {value!r}") from None


def file_of(ctx: Context, save: object, family: str) -> str:
    """The file for ``save``: the machine's own if true, or a path."""
    if save in (None, False, ""):
        return ""
    if save is True:
        return iptables.file_of(ctx, family)
    if not os.path.isabs(str(save)):
        raise Refused(f"save needs true or the absolute path of a file, got {save!r}")
    return str(save)


def stale(ctx: Context, wanted: list[DesiredIptablesRule]) -> list[str]:
    """The files whose saved rules differ from those in force."""
    kept = [one for one in wanted if one.file]
    found = [one.file for one in kept if not iptables.is_kept(ctx, one.where, one.file, one.rule)]
    return list(dict.fromkeys(found))


def keep(ctx: Context, wanted: list[DesiredIptablesRule]) -> None:
    for file, family in dict.fromkeys((one.file, one.where.family) for one in wanted if one.file):
        iptables.save(ctx, family, file)


def facts(ctx: Context, wanted: list[DesiredIptablesRule]) -> Changes:
    known = [_rule_facts(ctx, one) for one in wanted]
    return known[0] if len(known) == 1 else {"rules": known}


def _rule_facts(ctx: Context, want: DesiredIptablesRule) -> Changes:
    where = want.where
    found: Changes = {
        "name": want.name,
        "table": where.table,
        "chain": where.chain,
        "family": where.family,
    }
    found |= {
        "rule": want.shown,
        "exists": bool(want.rule) and iptables.holds(ctx, where, want.rule),
    }
    return found | ({"file": want.file} if want.file else {})
