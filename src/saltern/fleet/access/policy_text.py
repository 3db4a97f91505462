"""Writes rules as the text of a policy. Scalars are written as JSON, which YAML reads unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from saltern.fleet.access.policy import EVERYWHERE, Rule


def policy_text(rules: Iterable[Rule], login: Mapping[str, object]) -> str:
    """The text of a policy with these rules, without conditions."""
    lines = [f"login: {_value(login)}"] if login else []
    written = [line for rule in rules for line in _rule(rule)]
    return "\n".join([*lines, *(["rules:", *written] if written else ["rules: []"])]) + "\n"


def _rule(rule: Rule) -> list[str]:
    parts = {"name": rule.name, "who": _short(rule.who), "functions": _short(rule.functions)}
    if rule.target != EVERYWHERE:
        parts["target"] = rule.target
    lines = [f"    {key}: {_value(value)}" for key, value in parts.items()]
    return ["  - " + lines[0].strip(), *lines[1:], *(["    deny: true"] if rule.deny else [])]


def _short(names: tuple[str, ...]) -> object:
    return names[0] if len(names) == 1 else list(names)


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
