"""``iptables.append``, ``iptables.insert`` and ``iptables.delete``: rules of a chain."""

from __future__ import annotations

from collections.abc import Callable

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.firewalls import iptables
from saltern.modules.states.iptables.wishes import Wish, facts, keep, stale, wishes_of


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
    """Make sure that a chain has a rule; a new one comes last.

    A rule that is there already stays where it is.

    Args:
        name: what to call the rule here; it is not part of it.
        chain: the chain; not needed with ``rules``.
        table: the table it is in.
        family: ``ipv4`` or ``ipv6``.
        save: true to keep all rules where the machine looks for them at boot, or the path of a file.
        rules: several rules at once: a list of mappings, each with the arguments of one.
        **options: the rule: options of iptables under their long names without the dashes, such as
            ``jump``, ``proto``, ``source``, ``destination``, ``in-interface``, ``dport``, ``dports``,
            ``sport``, ``sports``, ``match`` (one or several), ``comment``, ``to-ports``; ``connstate`` is
            for ``--state`` and ``name_`` for ``--name``. A value that begins with ``!`` or ``not`` turns an
            option round; an empty one is for options without a value.

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
    wishes = _checked(wishes_of(ctx, name, given))
    return _settled(ctx, name, wishes, lambda wish: _add(ctx, wish, "-A", wish.where.chain))


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
    """Make sure that a chain has a rule; a new one comes at a position, first if none is given.

    A rule that is there already stays where it is.

    Args:
        name: what to call the rule here; it is not part of it.
        chain: the chain; not needed with ``rules``.
        table: the table it is in.
        family: ``ipv4`` or ``ipv6``.
        save: true to keep all rules where the machine looks for them at boot, or the path of a file.
        rules: several rules at once: a list of mappings, each with the arguments of one.
        position: the number that a new rule gets, from 1, or from -1 (before the last rule) backwards.
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
    wishes = _checked(wishes_of(ctx, name, given, position=position))

    def add(wish: Wish) -> None:
        number = iptables.position(ctx, wish.where, wish.position)
        _add(ctx, wish, "-I", wish.where.chain, str(number))

    return _settled(ctx, name, wishes, add)


def _checked(wishes: list[Wish]) -> list[Wish]:
    for wish in wishes:
        if not wish.rule:
            raise Refused(f"{wish.name}: the rule is empty; give it at least a jump")
    return wishes


def _add(ctx: Context, wish: Wish, *command: str) -> None:
    if not iptables.holds(ctx, wish.where, wish.rule):  # two of one state's rules may be the same
        iptables.run(ctx, wish.where, *command, *wish.rule)


def _settled(ctx: Context, name: str, wishes: list[Wish], add: Callable[[Wish], None]) -> Result:
    def missing() -> list[Wish]:
        return [one for one in wishes if not iptables.holds(ctx, one.where, one.rule)]

    def act(_: Changes) -> None:
        for wish in missing():
            add(wish)
        keep(ctx, wishes)

    return bring(
        ctx,
        lambda: _changes(ctx, name, wishes, missing()),
        act,
        facts=lambda: facts(ctx, wishes),
        words=_words(wishes, "set", "set"),
    )


def _changes(ctx: Context, name: str, wishes: list[Wish], wrong: list[Wish]) -> Changes:
    """Salt's shape: the name of the rule, or all names of several; what is kept is reported on its own."""
    if wrong:
        return {"locale": name if len(wishes) == 1 else [one.name for one in wrong]}
    files = stale(ctx, wishes)
    return {"saved": files if len(files) > 1 else files[0]} if files else {}


def _words(wishes: list[Wish], already: str, verb: str) -> Words:
    shown = "; ".join(f"{one.name} ({one.shown}) for {one.where.family}" for one in wishes)
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
        name: what to call the rule here; it is not part of it.
        chain: the chain; not needed with ``rules``.
        table: the table it is in.
        family: ``ipv4`` or ``ipv6``.
        save: true to keep all rules where the machine looks for them at boot, or the path of a file.
        rules: several rules at once: a list of mappings, each with the arguments of one.
        position: instead of the rule, its number; then one is deleted at every run, whatever it is.
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
    wishes = wishes_of(ctx, name, given, position=position)
    if any(not one.rule for one in wishes):
        return _delete_by_number(ctx, name, wishes)

    def there() -> list[Wish]:
        return [one for one in wishes if iptables.holds(ctx, one.where, one.rule)]

    def act(_: Changes) -> None:
        while found := there():  # a rule may be there twice
            for wish in found:
                iptables.run(ctx, wish.where, "-D", wish.where.chain, *wish.rule)
        keep(ctx, wishes)

    return bring(
        ctx,
        lambda: _changes(ctx, name, wishes, there()),
        act,
        facts=lambda: facts(ctx, wishes),
        words=_words(wishes, "absent", "deleted"),
    )


def _delete_by_number(ctx: Context, name: str, wishes: list[Wish]) -> Result:
    """What comes after it moves up; so the rules that must be left are known before."""
    if len(wishes) > 1 or wishes[0].position < 1:
        raise Refused("delete needs the options of a rule, or the position of one, from 1")
    wish = wishes[0]

    def rules() -> list[str]:
        return iptables.read(ctx, wish.where).rules.get(wish.where.chain, [])

    before = rules()
    doomed = before[wish.position - 1 : wish.position]
    left = [*before[: wish.position - 1], *before[wish.position :]]

    def act(_: Changes) -> None:
        iptables.run(ctx, wish.where, "-D", wish.where.chain, str(wish.position))
        keep(ctx, wishes)

    what = f"iptables rule {wish.position} of {wish.where.chain} ({''.join(doomed)})"
    return bring(
        ctx,
        lambda: {"locale": name} if doomed and rules() != left else {},
        act,
        facts=lambda: {"name": name, "table": wish.where.table, "chain": wish.where.chain, "rules": rules()},
        words=Words(
            f"{wish.where.chain} has no rule {wish.position}",
            f"{what} would be deleted",
            f"{what} was deleted",
        ),
    )
