"""Whether a target matches a machine: one matcher per row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.language.diagnostics import did_you_mean
from saltern.targeting import patterns
from saltern.targeting.compound import Every, Node, Not, Some, Term, is_plain, parse
from saltern.targeting.problem import BadTarget

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Network

__all__ = ["MATCHERS", "BadTarget", "Subject", "holds", "matches"]


class Subject(Struct, frozen=True, kw_only=True):
    """The data of a machine that targets can use. ``data`` is its data store (matcher ``data``)."""

    id: str
    grains: Mapping[str, object] = {}
    pillar: Mapping[str, object] = {}
    nodegroups: Mapping[str, object] = {}
    data: Mapping[str, object] = {}
    within: tuple[str, ...] = ()  # the nodegroups being expanded


Expression = str | Sequence[object]
Matcher = Callable[[Subject, Expression, str], bool]


def matches(subject: Subject, expression: Expression, how: str = "compound", *, delimiter: str = ":") -> bool:
    """True if ``expression``, read by the matcher ``how``, matches this machine. May raise ``BadTarget``."""
    matcher = MATCHERS.get(how)
    if matcher is None:
        raise BadTarget(f"no matcher is called {how!r}", did_you_mean(how, MATCHERS))
    return matcher(subject, expression, delimiter)


def _glob(subject: Subject, expression: Expression, _: str) -> bool:
    target = _text(expression, "glob")
    return target == "*" or fnmatchcase(subject.id, target)


def _pcre(subject: Subject, expression: Expression, _: str) -> bool:
    return patterns.expression(_text(expression, "pcre")).match(subject.id) is not None


def _list(subject: Subject, expression: Expression, _: str) -> bool:
    if isinstance(expression, str):
        return subject.id in (name.strip() for name in expression.split(","))
    return subject.id in map(str, expression)


def _pattern(what: str, test: patterns.Test) -> Matcher:
    """A matcher of ``key:value`` in the grains or the pillar."""

    def matcher(subject: Subject, expression: Expression, delimiter: str) -> bool:
        target = _text(expression, what)
        if delimiter not in target:
            raise BadTarget(
                f"{what} target {target!r} has no value",
                f"write {target}{delimiter}VALUE, or {target}{delimiter}* for any",
            )
        data = subject.grains if what == "grain" else subject.pillar
        return patterns.fits(data, target, delimiter, test)

    return matcher


def _ipcidr(subject: Subject, expression: Expression, _: str) -> bool:
    import ipaddress

    target = _text(expression, "ipcidr")
    try:
        network = ipaddress.ip_network(target)
    except ValueError as problem:
        raise BadTarget(
            f"{target!r} is not an address or network: {problem}", _mask_host_bits(target)
        ) from None
    addresses = subject.grains.get(f"ipv{network.version}")
    if not isinstance(addresses, list | tuple):
        return False
    return any(_inside(str(each), network) for each in addresses)


def _inside(address: str, network: IPv4Network | IPv6Network) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(address.partition("%")[0]) in network
    except ValueError:
        return False  # grains may be written by hand


def _mask_host_bits(target: str) -> str:
    """The network that may have been meant, if only host bits are set too many."""
    import ipaddress

    try:
        return f"did you mean {str(ipaddress.ip_network(target, strict=False))!r}?"
    except ValueError:
        return "write it as 10.0.0.0/8 or 10.1.2.3"


def _data(subject: Subject, expression: Expression, delimiter: str) -> bool:
    key, _, pattern = _text(expression, "data").partition(delimiter)
    value = subject.data.get(key)
    if isinstance(value, Mapping):
        return pattern in value
    values = value if isinstance(value, list | tuple) else [] if value is None else [value]
    return any(patterns.like(each, pattern) for each in values)


def _range(subject: Subject, expression: Expression, _: str) -> bool:
    from saltern.targeting.ranges import in_range

    target = _text(expression, "range")
    return in_range(subject.id, target) or in_range(str(subject.grains.get("fqdn", "")), target)


def _nodegroup(subject: Subject, expression: Expression, _: str) -> bool:
    name = _text(expression, "nodegroup")
    if name not in subject.nodegroups:
        raise BadTarget(f"no nodegroup is called {name!r}", did_you_mean(name, subject.nodegroups))
    if name in subject.within:
        raise BadTarget(f"nodegroups contain each other: {' -> '.join((*subject.within, name))}")
    group = subject.nodegroups[name]
    if not isinstance(group, str | list | tuple):
        raise BadTarget(f"nodegroup {name!r} must be a text or a list, not {group!r}")
    words = group.split() if isinstance(group, str) else [str(word) for word in group]
    inner = Subject(
        id=subject.id,
        grains=subject.grains,
        pillar=subject.pillar,
        nodegroups=subject.nodegroups,
        data=subject.data,
        within=(*subject.within, name),
    )
    return _names(inner, words) if words and is_plain(words) else holds(parse(group), inner)


def _names(subject: Subject, words: list[str]) -> bool:
    """True if a nodegroup of plain names contains the machine; names with regular-expression signs are
    patterns.
    """
    joined = ",".join(words)
    return (_pcre if set(joined) & set("([{\\?}])") else _list)(subject, joined, ":")


def _compound(subject: Subject, expression: Expression, _: str) -> bool:
    return expression == "*" or holds(parse(expression), subject)


def holds(node: Node, subject: Subject) -> bool:
    match node:
        case Term(how, pattern, delimiter):
            return MATCHERS[how](subject, pattern, delimiter)
        case Not(inner):
            return not holds(inner, subject)
        case Every(parts):
            return all(holds(part, subject) for part in parts)
        case Some(parts):
            return any(holds(part, subject) for part in parts)


def _exsel(_: Subject, expression: Expression, __: str) -> bool:
    raise BadTarget(f"target {expression!r} asks for the matcher exsel, which is gone", "use compound")


def _text(expression: Expression, how: str) -> str:
    if isinstance(expression, str):
        return expression
    raise BadTarget(f"a {how} target must be a text, not {expression!r}")


MATCHERS: dict[str, Matcher] = {
    "compound": _compound,
    "glob": _glob,
    "pcre": _pcre,
    "list": _list,
    "grain": _pattern("grain", patterns.like),
    "grain_pcre": _pattern("grain", patterns.regular),
    "pillar": _pattern("pillar", patterns.like),
    "pillar_pcre": _pattern("pillar", patterns.regular),
    "pillar_exact": _pattern("pillar", patterns.same),
    "ipcidr": _ipcidr,
    "data": _data,
    "range": _range,
    "nodegroup": _nodegroup,
    "exsel": _exsel,
}
