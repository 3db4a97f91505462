"""Salt's ``peer`` and ``peer_run``: which systems may run which functions on others, and which runners.

Without a rule nothing is allowed. As in Salt, ids and functions are regular expressions that match the
beginning of a name: ``web1`` also matches ``web10``, and ``web1$`` does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

Match = Callable[[str], bool]  # whether a compound target matches every requested system


class PeerRules(Struct, frozen=True):
    """Rows of an id and what it may run: a function, or a target with functions."""

    rows: tuple[tuple[str, tuple[Any, ...]], ...] = ()


class Order(Struct, frozen=True, kw_only=True):
    """A request of one system to run a function on others."""

    function: str
    args: Sequence[object] = ()
    kwargs: Mapping[str, object] = {}


def read_peers(value: object) -> PeerRules:
    """The rules of the configuration. Raises ``ValueError``."""
    if not isinstance(value, Mapping):
        raise ValueError("not a mapping")
    return PeerRules(tuple((_expression(str(id_)), _entries(given)) for id_, given in value.items()))


def _entries(value: object) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ValueError("not a list")
    return tuple(_entry(one) for one in value)


def _entry(value: object) -> Any:
    """A function, or one target with its functions."""
    if isinstance(value, str):
        return _expression(value)
    target, functions = _single(value)
    given = functions if isinstance(functions, list) else [functions]
    return {target: [_function(one) for one in given]}


def _function(value: object) -> Any:
    """A function, or one function with the arguments that are allowed."""
    if isinstance(value, str):
        return _expression(value)
    name, conditions = _single(value)
    given = conditions if isinstance(conditions, list) else [conditions]
    return {_expression(name): [_condition(one) for one in given]}


def _condition(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not set(value) <= {"args", "kwargs"}:
        raise ValueError("not a mapping of 'args' and 'kwargs'")
    args, kwargs = value.get("args") or [], value.get("kwargs") or {}
    if not isinstance(args, list) or not isinstance(kwargs, Mapping):
        raise ValueError("'args' is a list, and 'kwargs' a mapping")
    return {
        "args": [_any_or(one) for one in args],
        "kwargs": {str(name): _any_or(one) for name, one in kwargs.items()},
    }


def _any_or(value: object) -> str | None:
    return None if value is None else _expression(str(value))


def _single(value: object) -> tuple[str, object]:
    if not isinstance(value, Mapping) or len(value) != 1:
        raise ValueError("not a name, nor a mapping with one key")
    ((name, inner),) = value.items()
    return str(name), inner


def _expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as problem:
        raise ValueError(f"not a regular expression: {problem}") from None
    return text


def may_run(rules: PeerRules, system: str, order: Order, match: Match) -> bool:
    """True if a system may ask for this. ``match`` says whether a target matches all requested systems."""
    return any(_fits(entry, order, match) for entry in entries_of(rules, system))


def entries_of(rules: PeerRules, system: str) -> list[Any]:
    """The entries of all rules that match a system."""
    return [entry for id_, entries in rules.rows if re.match(id_, system) for entry in entries]


def _fits(entry: Any, order: Order, match: Match) -> bool:
    if isinstance(entry, str):
        return re.match(entry, order.function) is not None
    ((target, functions),) = entry.items()
    return any(_is_function(one, order) for one in functions) and (target == "*" or match(target))


def _is_function(given: Any, order: Order) -> bool:
    if isinstance(given, str):
        return re.match(given, order.function) is not None
    ((name, conditions),) = given.items()
    return re.match(name, order.function) is not None and any(_holds(one, order) for one in conditions)


def _holds(condition: Mapping[str, Any], order: Order) -> bool:
    """True if all arguments that the rule names are given and match; others are free, as in Salt."""
    args, kwargs = condition["args"], condition["kwargs"]
    if len(order.args) < len(args) or not set(kwargs) <= set(order.kwargs):
        return False
    pairs = [*zip(args, order.args, strict=False), *((one, order.kwargs[key]) for key, one in kwargs.items())]
    return all(wanted is None or re.match(wanted, str(value)) for wanted, value in pairs)


def may_use(rules: PeerRules, system: str, runner: str) -> bool:
    """True if a system may ask for this runner; rules with targets apply to functions only."""
    return any(isinstance(one, str) and re.match(one, runner) for one in entries_of(rules, system))
