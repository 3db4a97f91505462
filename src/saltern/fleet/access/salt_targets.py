"""Targets of a master's configuration, as the policy and the groups of a fleet write them."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.targeting.compound import Every, Node, Not, Some, Term, is_plain, parse
from saltern.targeting.problem import BadTarget

UNKNOWN = frozenset({"pillar", "pillar_pcre", "range"})  # a controller cannot match systems by these


def group_target(value: object) -> str | None:
    """The target of a nodegroup: a compound expression, a list of its words, or a list of ids."""
    if isinstance(value, list):
        words = [str(word) for word in value]
        value = f"L@{','.join(words)}" if is_plain(words) else " ".join(words)
    return _check_target(value) if isinstance(value, str) else None


def policy_target(target: str, groups: Mapping[str, str]) -> str | None:
    """A target with ``@GROUP`` for ``N@GROUP``; None if it cannot be read, or not by a controller."""
    words = [_word(word, groups) for word in target.split()]
    return None if None in words else _check_target(" ".join(word for word in words if word))


def _word(word: str, groups: Mapping[str, str]) -> str | None:
    if not word.startswith("N@"):
        return word
    return f"@{word[2:]}" if word[2:] in groups else None


def _check_target(target: str) -> str | None:
    try:
        return target if not UNKNOWN & set(_matchers(parse(target))) else None
    except BadTarget:
        return None


def _matchers(node: Node) -> list[str]:
    match node:
        case Term():
            return [node.how]
        case Not(inner):
            return _matchers(inner)
        case Every(parts) | Some(parts):
            return [one for part in parts for one in _matchers(part)]
