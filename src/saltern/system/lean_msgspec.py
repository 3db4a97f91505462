"""Imports msgspec without the modules that it needs only for features that we do not use: they cost half as
much as all of ours.

User modules in the same process can still use those features: each module is imported when it is first used.
Only the program does this, before anything else; a library uses msgspec as it is.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # the one of ``typing``, which is imported below
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LATE = ("inspect", "toml", "yaml")  # modules that msgspec needs only for features that import them
SCHEMA = (
    "schema",
    "schema_components",
)  # functions of ``msgspec.json`` that another module has, with ``textwrap``


def import_msgspec() -> None:
    """Do the same as ``import msgspec``. A version that cannot be imported like this is left to the next
    import.
    """
    if "msgspec" in sys.modules:
        return
    regular = _regular_expressions()
    with InPlaceOf(regular):
        import typing  # noqa: F401
    if "uuid" not in sys.modules and "platform" not in sys.modules:
        _import_uuid()
    schema = _module({name: _later("msgspec._json_schema", name) for name in SCHEMA})
    late = {f"msgspec.{name}": ModuleType(name) for name in LATE}
    others: dict[str, ModuleType | None] = {"msgspec._json_schema": schema, "typing_extensions": None}
    try:
        with InPlaceOf({**late, **others, **_compiled_modules(), **regular}), NoForwardReferences():
            import msgspec
    except (ImportError, AttributeError):
        for name in [name for name in sys.modules if name.partition(".")[0] == "msgspec"]:
            del sys.modules[name]
        return
    names = vars(msgspec)
    for name in LATE:
        if names.get(name) is late[f"msgspec.{name}"]:
            del names[name]
    names["__getattr__"] = _late_module(names.get("__getattr__"))


def _regular_expressions() -> dict[str, ModuleType]:
    """A stand-in for ``re``: ``typing`` only needs the names of two types, and msgspec a function to call
    later.
    """
    try:
        from _sre import compile as program  # type: ignore[import-not-found, unused-ignore]

        nothing = program("", 0, [1], 0, {}, ())  # matches the empty text
        types = {"Pattern": type(nothing), "Match": type(nothing.match(""))}
    except (ImportError, TypeError, RuntimeError):  # created differently in this Python
        return {}
    return {"re": _module({**types, "compile": _later("re", "compile")})}


def _import_uuid() -> None:
    """Import ``uuid``. Up to Python 3.11, it only needs the name of the system from ``platform``."""
    with InPlaceOf({"platform": _module({"system": lambda: os.uname().sysname})}):
        import uuid
    vars(uuid).pop("platform", None)


def _compiled_modules() -> dict[str, ModuleType]:
    """Stand-ins for modules that are implemented both in Python and in C: msgspec only uses the C part.

    Each is imported completely when it is first used, with the same classes.
    """
    try:
        import _datetime  # type: ignore[import-not-found, unused-ignore]
        import _decimal
    except ImportError:
        return {}
    return {"datetime": _datetime, "decimal": _decimal}


class NoForwardReferences:
    """msgspec creates a forward reference, to test what Python supports; compiling it would make Python
    create a class for each kind of syntax, which takes longer than all of msgspec.
    """

    def __enter__(self) -> None:
        import typing

        self._real = typing.ForwardRef
        typing.ForwardRef = lambda *_, **__: None  # type: ignore[misc, assignment]

    def __exit__(self, *_: object) -> None:
        import typing

        typing.ForwardRef = self._real  # type: ignore[misc]


def _late_module(other: Callable[[str], object] | None) -> Callable[[str], object]:
    """A module's ``__getattr__``; ``other`` is the original one, if it has one."""

    def find(name: str) -> object:
        if name in LATE:
            return import_module(f"msgspec.{name}")
        if other is None:
            raise AttributeError(f"module 'msgspec' has no attribute {name!r}", name=name)
        return other(name)

    return find


def _later(module: str, name: str) -> Callable[..., object]:
    def call(*values: object, **named: object) -> object:
        found: Callable[..., object] = getattr(import_module(module), name)
        return found(*values, **named)

    call.__name__ = call.__qualname__ = name
    return call


def _module(names: Mapping[str, object]) -> ModuleType:
    made = ModuleType("")
    vars(made).update(names)
    return made


class InPlaceOf:
    """Import this object under a name within the block; None: as if it were not installed."""

    def __init__(self, modules: Mapping[str, ModuleType | None]) -> None:
        self._modules = {name: one for name, one in modules.items() if name not in sys.modules}

    def __enter__(self) -> None:
        sys.modules.update(self._modules)  # type: ignore[arg-type]

    def __exit__(self, *_: object) -> None:
        for name in self._modules:
            del sys.modules[name]
