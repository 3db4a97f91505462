"""One rule of the policy, read strictly."""

from __future__ import annotations

import re
from collections.abc import Mapping

from saltern.fleet.access.conditions import ConditionReader
from saltern.fleet.access.page import Page
from saltern.fleet.access.policy import EVERYWHERE, Rule
from saltern.fleet.access.ports import ROLES
from saltern.language.diagnostics import did_you_mean
from saltern.language.source import Path

KEYS = ("name", "who", "functions", "target", "only", "deny")
LONGEST_NAME = 100
_FUNCTION = re.compile(r"[\w.*?\[\]!-]+")
_FACTS = re.compile(r"(?:^|[\s(])[GPIJS].?@")  # parts of a target that depend on answers of agents


def read_people(page: Page, value: object, path: Path) -> tuple[str, ...]:
    """Names and patterns, ``role:NAME``, ``group:NAME``."""
    people = page.texts(value, path)
    for one in people:
        kind, colon, name = one.partition(":")
        if kind == "role" and colon and (name not in ROLES or "roles" in path[:1]):
            fix = did_you_mean(name, ROLES) or f"roles are {', '.join(ROLES)}"
            page.wrong(f"{one!r} is not a role that can be used here", path, fix)
        elif one.startswith("%") or one.endswith("%"):
            page.wrong(f"{one!r} is how Salt writes a group", path, f"write 'group:{one.strip('%')}'")
    return people


class RuleReader:
    def __init__(self, page: Page, windows: Mapping[str, object]) -> None:
        self.page, self.windows = page, windows

    def rule(self, data: object, path: tuple[str, int]) -> Rule:
        given = self.page.mapping(data, path, "a rule", f"its keys are {', '.join(KEYS)}")
        self.page.check_keys(given, KEYS, path, "a rule")
        for key in ("who", "functions"):
            if key not in given:
                self.page.wrong(f"{key!r} is missing", path, "a rule says 'who' may run which 'functions'")
        rule = Rule(
            name=self.name(given, path),
            who=read_people(self.page, given["who"], (*path, "who")) if "who" in given else (),
            functions=self.functions(given["functions"], (*path, "functions"))
            if "functions" in given
            else (),
            target=self.target(given.get("target", EVERYWHERE), (*path, "target")),
            only=ConditionReader(self.windows, self.page.wrong, path).read(given.get("only")),
            deny=self.deny(given.get("deny", False), (*path, "deny")),
        )
        if rule.deny and rule.only:
            self.page.wrong(
                "a rule that denies has no conditions", (*path, "only"), "remove 'only' or 'deny'"
            )
        return rule

    def name(self, given: Mapping[object, object], path: tuple[str, int]) -> str:
        name = given.get("name", f"rule {path[1] + 1}")
        if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
            self.page.wrong(f"'name' must be a text of up to {LONGEST_NAME} characters", (*path, "name"))
        return str(name)

    def deny(self, value: object, path: Path) -> bool:
        if not isinstance(value, bool):
            self.page.wrong("'deny' must be true or false", path)
        return value is True

    def functions(self, value: object, path: Path) -> tuple[str, ...]:
        functions = self.page.texts(value, path)
        for one in functions:
            if not _FUNCTION.fullmatch(one):
                self.page.wrong(
                    f"{one!r} is not a pattern for functions", path, "write it as 'state.*' or 'pkg.version'"
                )
        return functions

    def target(self, value: object, path: Path) -> str:
        from saltern.targeting.compound import parse
        from saltern.targeting.problem import BadTarget

        if not isinstance(value, str) or not value.strip():
            self.page.wrong("'target' must be a text", path, "write '*' for all systems")
            return EVERYWHERE
        try:
            parse(value)
        except BadTarget as problem:
            self.page.wrong(problem.what, path, problem.fix)
        if _FACTS.search(value):
            self.page.found.warn(
                "policy-trusts-grains",
                f"the target {value!r} trusts what agents say about themselves",
                where=self.page.mark(path),
                fix="name the systems, or use a group: an agent can report any grain",
            )
        return value.strip()

    def check_names(self, rules: list[Rule]) -> None:
        seen: set[str] = set()
        for place, rule in enumerate(rules):
            if rule.name in seen:
                self.page.wrong(f"two rules are called {rule.name!r}", ("rules", place, "name"))
            seen.add(rule.name)
