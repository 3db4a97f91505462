"""``iptables.append``, ``iptables.insert`` and ``iptables.delete``: rules of a chain."""

from __future__ import annotations

from collections.abc import Callable

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.firewalls import iptables
from saltern.modules.states.iptables.desired_rules import (
    DesiredIptablesRule,
    desired_rules,
    facts,
    keep,
    stale,
)


@state
def append(
    ctx: Context,
    /,
    name: str,
    *,
    chain: str = "",
    table: str = "filter",
    family: str = "ipv4",
    save: object = False,
    rules: object = None,
    **options: object,
) -> Result:
    """Make sure that a chain has a rule; a new rule is added at the end.

    An existing rule keeps its position.

    Args:
        name: the name in the report; not part of the rule.
        chain: the chain; not needed with ``rules``.
        table: the table it is in.
        family: ``ipv4`` or ``ipv6``.
        save: true to save all rules to the file that the machine loads at boot, or the path of a file.
        rules: several rules at once: a list of mappings, each with the arguments of one.
        **options: the rule: options of iptables under their long names without the dashes, such as
            ``jump``, ``proto``, ``source``, ``destination``, ``in-interface``, ``dport``, ``dports``,
            ``sport``, ``sports``, ``match`` (one or several), ``comment``, ``to-ports``; ``connstate`` is
            for ``--state`` and ``name_`` for ``--name``. A value that begins with ``!`` or ``not`` negates an
            option; an empty value is for options without one.

    Example:
        ```yaml
        web may be reached:
          iptables.append:
            - chain: INPUT
            - proto: tcp
            - dports: [80, 443]
            - match: conntrack
            - ctstate: NEW
            - comment: web
            - jump: ACCEPT
            - save: true
        ```
    """
    given = {**options, "chain": chain, "table": table, "family": family, "save": save, "rules": rules}
    wanted = _check_rules(desired_rules(ctx, name, given))
    return _settle(ctx, name, wanted, lambda want: _add(ctx, want, "-A", want.where.chain))


@state
def insert(
    ctx: Context,
    /,
    name: str,
    *,
    chain: str = "",
    table: str = "filter",
    family: str = "ipv4",
    save: object = False,
    rules: object = None,
    position: int = 1,
    **options: object,
) -> Result:
    """Make sure that a chain has a rule; a new rule is inserted at a position, first if none is given.

    An existing rule keeps its position.

    Args:
        name: the name in the report; not part of the rule.
        chain: the chain; not needed with ``rules``.
        table: the table it is in.
        family: ``ipv4`` or ``ipv6``.
        save: true to save all rules to the file that the machine loads at boot, or the path of a file.
        rules: several rules at once: a list of mappings, each with the arguments of one.
        position: the position of a new rule, from 1, or backwards from -1 (before the last rule).
        **options: the rule, as in ``iptables.append``.

    Example:
        ```yaml
        the loopback is open:
          iptables.insert:
            - position: 1
            - chain: INPUT
            - in-interface: lo
            - jump: ACCEPT
        ```
    """
    given = {**options, "chain": chain, "table": table, "family": family, "save": save, "rules": rules}
    wanted = _check_rules(desired_rules(ctx, name, given, position=position))

    def add(want: DesiredIptablesRule) -> None:
        number = iptables.position(ctx, want.where, want.position)
        _add(ctx, want, "-I", want.where.chain, str(number))

    return _settle(ctx, name, wanted, add)


def _check_rules(wanted: list[DesiredIptablesRule]) -> list[DesiredIptablesRule]:
    for want in wanted:
        if not want.rule:
            raise Refused(f"{want.name}: the rule is empty; give it at least a jump")
    return wanted


def _add(ctx: Context, want: DesiredIptablesRule, *command: str) -> None:
    if not iptables.holds(ctx, want.where, want.rule):  # two rules of a state may be the same
        iptables.run(ctx, want.where, *command, *want.rule)


def _settle(
    ctx: Context, name: str, wanted: list[DesiredIptablesRule], add: Callable[[DesiredIptablesRule], None]
) -> Result:
    def missing_rules() -> list[DesiredIptablesRule]:
        return [one for one in wanted if not iptables.holds(ctx, one.where, one.rule)]

    def act(_: Changes) -> None:
        for want in missing_rules():
            add(want)
        keep(ctx, wanted)

    return bring(
        ctx,
        lambda: _changes(ctx, name, wanted, missing_rules()),
        act,
        facts=lambda: facts(ctx, wanted),
        words=_words(wanted, "set", "set"),
    )


def _changes(
    ctx: Context, name: str, wanted: list[DesiredIptablesRule], wrong: list[DesiredIptablesRule]
) -> Changes:
    """The changes in Salt's form: the name of the rule, or of all rules; saved files are reported
    separately.
    """
    if wrong:
        return {"locale": name if len(wanted) == 1 else [one.name for one in wrong]}
    files = stale(ctx, wanted)
    return {"saved": files if len(files) > 1 else files[0]} if files else {}


def _words(wanted: list[DesiredIptablesRule], already: str, verb: str) -> Words:
    shown = "; ".join(f"{one.name} ({one.shown}) for {one.where.family}" for one in wanted)
    what = f"iptables rule {shown}"
    return Words(f"{what} is already {already}", f"{what} would be {verb}", f"{what} was {verb}")


@state(removes=True)
def delete(
    ctx: Context,
    /,
    name: str,
    *,
    chain: str = "",
    table: str = "filter",
    family: str = "ipv4",
    save: object = False,
    rules: object = None,
    position: int = 0,
    **options: object,
) -> Result:
    """Make sure that a chain does not have a rule.

    Args:
        name: the name in the report; not part of the rule.
        chain: the chain; not needed with ``rules``.
        table: the table it is in.
        family: ``ipv4`` or ``ipv6``.
        save: true to save all rules to the file that the machine loads at boot, or the path of a file.
        rules: several rules at once: a list of mappings, each with the arguments of one.
        position: the position of the rule, instead of its options; every run deletes the rule at it.
        **options: the rule, as in ``iptables.append``.

    Example:
        ```yaml
        telnet is not let in:
          iptables.delete:
            - chain: INPUT
            - proto: tcp
            - dport: 23
            - jump: ACCEPT
        ```
    """
    given = {**options, "chain": chain, "table": table, "family": family, "save": save, "rules": rules}
    wanted = desired_rules(ctx, name, given, position=position)
    if any(not one.rule for one in wanted):
        return _delete_by_number(ctx, name, wanted)

    def there() -> list[DesiredIptablesRule]:
        return [one for one in wanted if iptables.holds(ctx, one.where, one.rule)]

    def act(_: Changes) -> None:
        while found := there():  # a rule may exist twice
            for want in found:
                iptables.run(ctx, want.where, "-D", want.where.chain, *want.rule)
        keep(ctx, wanted)

    return bring(
        ctx,
        lambda: _changes(ctx, name, wanted, there()),
        act,
        facts=lambda: facts(ctx, wanted),
        words=_words(wanted, "absent", "deleted"),
    )


def _delete_by_number(ctx: Context, name: str, wanted: list[DesiredIptablesRule]) -> Result:
    """Delete the rule at a position. Later rules move up, so compute the remaining rules first."""
    if len(wanted) > 1 or wanted[0].position < 1:
        raise Refused("delete needs the options of a rule, or the position of one, from 1")
    want = wanted[0]

    def rules() -> list[str]:
        return iptables.read(ctx, want.where).rules.get(want.where.chain, [])

    before = rules()
    doomed = before[want.position - 1 : want.position]
    left = [*before[: want.position - 1], *before[want.position :]]

    def act(_: Changes) -> None:
        iptables.run(ctx, want.where, "-D", want.where.chain, str(want.position))
        keep(ctx, wanted)

    what = f"iptables rule {want.position} of {want.where.chain} ({''.join(doomed)})"
    return bring(
        ctx,
        lambda: {"locale": name} if doomed and rules() != left else {},
        act,
        facts=lambda: {
            "name": name,
            "table": want.where.table,
            "chain": want.where.chain,
            "rules": rules(),
        },
        words=Words(
            f"{want.where.chain} has no rule {want.position}",
            f"{what} would be deleted",
            f"{what} was deleted",
        ),
    )
