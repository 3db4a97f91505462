"""The nature of a Salt-style module: its declarations in ``__saltern__``, which override Salt's conventions.

``__saltern__ = {"*": {"repeat": "once"}, "gone": {"removes": True}}`` has the words of ``@state``, for all of
its functions and for one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import ValidationError, convert
from msgspec.structs import asdict

from saltern.language.diagnostics import did_you_mean
from saltern.language.nature import TAKE_AWAY, Nature

ALL = "*"
DECLARATION = "__saltern__"
Words = Mapping[str, Any]
# Salt's modules by name. They declare nothing, nor does a user's module that replaces one.
OF_SALT: Mapping[str, Words] = {
    "cmd": {"repeat": "once", "runs_commands": True},
    "event": {"repeat": "once"},
    "exec": {"repeat": "once", "runs_commands": True},
    "module": {"repeat": "once", "runs_commands": True},
    "grains": {"refreshes": ("grains",)},
    "saltutil": {"refreshes": ("grains", "pillar", "modules")},
    "pkg": {"installs": True, "reloads": True},
    "pip": {"installs": True, "reloads": True},
    "ports": {"reloads": True},
    "virtualenv": {"installs": True},
}


class BadDeclaration(Exception):
    """A ``__saltern__`` that cannot be read; the text says why."""


def read_declaration(known: Mapping[str, Any], functions: Mapping[str, object]) -> dict[str, Words]:
    """``__saltern__`` of a module's globals. Raises ``BadDeclaration``."""
    given = known.get(DECLARATION, {})
    if not isinstance(given, Mapping):
        raise BadDeclaration(f"{DECLARATION} is not a mapping from functions to words")
    for name, words in given.items():
        if name != ALL and name not in functions:
            hint = did_you_mean(str(name), functions)
            raise BadDeclaration(
                f"{DECLARATION} names {name!r}, which is not a function of the module"
                + (f"; {hint}" if hint else "")
            )
        _check_words(name, words)
    return dict(given)


def _check_words(name: str, words: object) -> None:
    try:
        convert(words, Nature)
    except (ValidationError, ValueError) as problem:
        raise BadDeclaration(f"{DECLARATION} of {name!r}: {problem}") from None


def nature(module: str, fun: str, given: Mapping[str, Words]) -> Words:
    """The declared nature of one function."""
    habit = {**OF_SALT.get(module, {}), "removes": fun in TAKE_AWAY}
    words = {**habit, **given.get(ALL, {}), **given.get(fun, {})}
    return asdict(convert(words, Nature))
