"""Scopes of API tokens: ``jobs.read``, ``systems.*``, ``jobs.submit:test.*``. They narrow, and never add."""

from __future__ import annotations

from fnmatch import fnmatchcase

from saltern.fleet.access.ports import ACTIONS
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean

LONGEST, MOST = 200, 50


def check_scopes(scopes: tuple[str, ...]) -> None:
    """Refuse a scope that covers nothing: it is a typing mistake."""
    problems = [problem for scope in scopes if (problem := _problem(scope))]
    if len(scopes) > MOST:
        problems.append(Diagnostic(code="scope-invalid", what=f"a token has up to {MOST} scopes"))
    if problems:
        raise OperationError(*problems)


def _problem(scope: str) -> Diagnostic | None:
    action, colon, function = scope.partition(":")
    covered = [name for name in ACTIONS if fnmatchcase(name, action)]
    if not covered or len(scope) > LONGEST:
        fix = did_you_mean(action, ACTIONS) or f"actions are {', '.join(ACTIONS)}"
        return Diagnostic(
            code="scope-invalid", what=f"the scope {scope[:LONGEST]!r} covers no action", fix=fix
        )
    if colon and not (function and all(ACTIONS[name].by_rules for name in covered)):
        fix = "write a function only behind jobs.submit or jobs.cancel: jobs.submit:test.*"
        return Diagnostic(code="scope-invalid", what=f"the scope {scope!r} cannot have a function", fix=fix)
    return None
