"""Finds lines of a pillar top file that trust grains, which a system reports itself.

Anyone who can write the grains of a machine gets the pillar that such a line assigns. An operator can pin
grains on the controller; a line that depends only on pinned grains is safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from saltern.engine.session import Session
from saltern.targeting.compound import Every, Node, Not, Some, Term, parse
from saltern.targeting.match import BadTarget
from saltern.targeting.top import Target

BY_GRAIN = {"grain", "grain_pcre"}
BY_ADDRESS = {"ipcidr": "ipv4", "range": "fqdn"}


def unpinned_grains(session: Session, pinned: Mapping[str, object]) -> list[str]:
    """A warning for each line of the top files that depends on a grain that the system sets itself."""
    given = session.pillar_compiler.assigned.values()
    targets = {id(one.target): one.target for several in given for one in several}
    return [text for target in targets.values() if (text := _warning(target, session, pinned))]


def _warning(target: Target, session: Session, pinned: Mapping[str, object]) -> str:
    names = sorted(set(grains_of(target.expression, target.how, session.settings.nodegroups)) - set(pinned))
    if not names:
        return ""
    where = target.where.mark((target.section, target.expression))
    return (
        f"{where}: pillar is given by the grain {', '.join(map(repr, names))}, which the system sets itself;"
        " pin it on the controller (pinned_grains), or name systems [pillar-by-grain]"
    )


def grains_of(expression: str, how: str, nodegroups: Mapping[str, object]) -> Iterator[str]:
    """The grains that a target uses."""
    try:
        node = parse(expression) if how == "compound" else Term(how, expression)
    except BadTarget:
        return
    yield from _of_node(node, nodegroups, ())


def _of_node(node: Node, nodegroups: Mapping[str, object], within: tuple[str, ...]) -> Iterator[str]:
    match node:
        case Term(how, pattern, delimiter) if how in BY_GRAIN:
            yield str(pattern).partition(delimiter)[0]
        case Term(how, _, _) if how in BY_ADDRESS:
            yield BY_ADDRESS[how]
        case Term("nodegroup", name, _) if name not in within:
            group = nodegroups.get(name)
            if isinstance(group, str | list):
                yield from _of_node(parse(group), nodegroups, (*within, name))
        case Not(inner):
            yield from _of_node(inner, nodegroups, within)
        case Every(parts) | Some(parts):
            for part in parts:
                yield from _of_node(part, nodegroups, within)
