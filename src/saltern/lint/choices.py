"""Which rules are used, and how severe they are: from the configuration and the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from saltern.language.diagnostics import Diagnostic, OperationError, Severity, did_you_mean
from saltern.lint.rules import RULES, Choices, usual

KEYS = ("rules", "exclude", "machines")
_LEVELS = {"off": None, "warning": Severity.WARNING, "error": Severity.ERROR}
_SHOWN = "off, on, warning or error"


def choose(configured: Mapping[str, object], asked: Sequence[str], ignored: Sequence[str]) -> Choices:
    """Choose the rules. ``configured`` is the option ``check``; ``asked`` are NAME or NAME=LEVEL. Raises
    ``OperationError``.
    """
    choices = usual()
    for key in configured:
        if key not in KEYS:
            raise _wrong(f"the option 'check' has no {key!r}", did_you_mean(key, KEYS) or f"it has {KEYS}")
    rules = configured.get("rules") or {}
    if not isinstance(rules, Mapping):
        raise _wrong("'rules' of the option 'check' is not a mapping", "write 'rules: {NAME: off}'")
    for name, level in rules.items():
        _set(choices, str(name), level)
    for text in asked:
        name, equals, level = text.partition("=")
        _set(choices, name, level if equals else True)
    for name in ignored:
        _set(choices, name, False)
    return choices


def excluded_patterns(configured: Mapping[str, object], asked: Sequence[str]) -> list[str]:
    """Patterns of SLS names that are not checked."""
    given = configured.get("exclude") or []
    if not isinstance(given, list):
        raise _wrong("'exclude' of the option 'check' is not a list", "write 'exclude: [test.*]'")
    return [*map(str, given), *asked]


def _set(choices: Choices, name: str, level: object) -> None:
    """Set the level of a rule. YAML reads ``off`` and ``on`` as false and true."""
    if name not in RULES:
        fix = did_you_mean(name, RULES) or "saltern check --list prints them"
        raise _wrong(f"no rule is called {name!r}", fix)
    word = {True: "on", False: "off"}.get(level, str(level)) if isinstance(level, bool) else str(level)
    if word == "on":
        choices[name] = RULES[name].severity
    elif word in _LEVELS:
        choices[name] = _LEVELS[word]
    else:
        raise _wrong(f"the rule {name!r} is set to {level!r}", f"it is {_SHOWN}")


def _wrong(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="check-rules", what=what, fix=fix))
