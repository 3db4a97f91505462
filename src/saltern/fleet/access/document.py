"""``policy.yaml`` → ``Policy``. Every mistake has its line, and all of them are reported at once."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.fleet.access.page import Page
from saltern.fleet.access.policy import Login, Policy, Rule
from saltern.fleet.access.ports import ROLES
from saltern.fleet.access.rules import RuleReader, read_people
from saltern.fleet.access.windows import BadWindow, Window, check_zone, read_window
from saltern.language.diagnostics import CompileError, Diagnostic, Diagnostics, OperationError
from saltern.language.source import Path

KEYS = ("rules", "roles", "windows", "timezone", "login")


def read_policy(text: str, file: str = "policy.yaml") -> tuple[Policy, tuple[Diagnostic, ...]]:
    """The policy, and warnings. Raises ``OperationError`` with every mistake."""
    found = Diagnostics()
    policy = _policy(Page(text, file, "policy-file", found))
    try:
        found.check()
    except CompileError as problem:
        raise OperationError(*problem.diagnostics) from None
    return policy, tuple(found.warnings)


def _policy(page: Page) -> Policy:
    data = page.data("the policy", KEYS)
    windows = _windows(page, data)
    return Policy(
        rules=_rules(page, data.get("rules"), windows),
        windows=windows,
        roles=_roles(page, data.get("roles")),
        login=page.convert_value(page.mapping(data.get("login"), ("login",), "'login'"), Login, ("login",))
        or Login(),
    )


def _windows(page: Page, data: Mapping[object, object]) -> dict[str, tuple[Window, ...]]:
    zone = data.get("timezone", "UTC")
    try:
        check_zone(str(zone))
    except BadWindow as problem:
        page.wrong(problem.what, ("timezone",), problem.fix)
        zone = "UTC"
    given = page.mapping(data.get("windows"), ("windows",), "'windows'", "write NAME: 'sat 02:00-06:00'")
    return {str(name): _window(page, value, ("windows", name), str(zone)) for name, value in given.items()}


def _window(page: Page, value: object, path: Path, zone: str) -> tuple[Window, ...]:
    read = []
    for text in page.texts(value, path):
        try:
            read.append(read_window(text, zone))
        except BadWindow as problem:
            page.wrong(problem.what, path, problem.fix)
    return tuple(read)


def _roles(page: Page, data: object) -> dict[str, tuple[str, ...]]:
    given = page.mapping(data, ("roles",), "'roles'", "write ROLE: [NAME, 'group:NAME']")
    page.check_keys(given, tuple(ROLES), ("roles",), "the table of roles")
    return {str(role): read_people(page, value, ("roles", role)) for role, value in given.items()}


def _rules(page: Page, data: object, windows: Mapping[str, object]) -> tuple[Rule, ...]:
    if data is None:
        return ()
    if not isinstance(data, list):
        page.wrong("'rules' must be a list", ("rules",), "begin each rule with '- who:'")
        return ()
    reader = RuleReader(page, windows)
    rules = [reader.rule(one, ("rules", place)) for place, one in enumerate(data)]
    reader.check_names(rules)
    return tuple(rules)
