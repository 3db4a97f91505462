"""Runs one Salt-style file and reads which functions it offers.

The names of ``dunders`` are set in its globals before the first line runs, and again afterwards: some files
set ``__opts__ = {}`` for tests. Nothing of it stays in ``sys.modules``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from saltern.compat.dunders import DUNDERS, LISTS, VALUES, ListView, View
from saltern.compat.imports import builtins_for
from saltern.compat.natures import BadDeclaration, Words, read_declaration
from saltern.compat.places import KINDS

if TYPE_CHECKING:
    from saltern.compat.library import Library

LOADED = "salt.loaded"  # the prefix that Salt's own decorators expect in the name of a loaded module
Raw = Callable[..., Any]


class Unavailable(Exception):
    """The module is not for this machine, or cannot be loaded; the text says why.

    ``broken``: its code is wrong. ``refused``: the module itself reports that it does not support this
    machine.
    """

    def __init__(self, why: str, *, broken: bool = False, refused: bool = False) -> None:
        super().__init__(why)
        self.broken = broken
        self.refused = refused


class Loaded(Struct, frozen=True):
    """A loaded file. ``names`` are its names, the usual one first."""

    module: ModuleType
    path: str
    names: tuple[str, ...]
    functions: dict[str, Raw]
    provider: str = ""
    words: dict[str, Words] = {}  # its declarations about its functions


def load(library: Library, path: str, kind: str, *, provider: str = "") -> Loaded:
    """Load a file. Raises ``Unavailable``. ``provider`` is empty for the user's own modules."""
    stem = _stem(path)
    module = run(library, path, kind, own=not provider)
    _initialise(library, module, path)
    names = _names(library, module, stem)
    functions = _with_dependencies(dict(_functions(module)), kind, stem)
    words = _read_natures(module, functions, path) if kind == "states" else {}
    return Loaded(module, path, names, functions, provider, words)


def _read_natures(module: ModuleType, functions: dict[str, Raw], path: str) -> dict[str, Words]:
    try:
        return read_declaration(vars(module), functions)
    except BadDeclaration as problem:
        raise Unavailable(f"{path}: {problem}", broken=True) from None


def run(
    library: Library, path: str, kind: str, *, own: bool = True, known: dict[str, ModuleType] | None = None
) -> ModuleType:
    """The module of a file, without calling its ``__virtual__``. Raises ``Unavailable``.

    The module is added to ``known`` before its first line runs, for modules that import each other.
    """
    name = f"{LOADED}.{'ext' if own else 'int'}.{KINDS.get(kind, kind)}.{_stem(path)}"
    module = ModuleType(name)
    injected = pour(library)
    module.__dict__.update(injected, __file__=path, __builtins__=builtins_for(library, path))
    if os.path.basename(path) == "__init__.py":
        module.__path__ = [os.path.dirname(path)]
    _teach_logging()
    if known is not None:
        known[path] = module
    try:
        code = _code(name, path, own=own)
        with library.idle(module):
            exec(code, module.__dict__)
    except SyntaxError as problem:
        raise Unavailable(f"{path}:{problem.lineno}: not Python: {problem.msg}", broken=True) from None
    except (Exception, SystemExit) as problem:
        why_not = f"{path} cannot be loaded: {type(problem).__name__}: {problem}"
        raise Unavailable(why_not, broken=not isinstance(problem, ImportError)) from None
    defaults = module.__dict__["__opts__"]
    module.__dict__.update(injected)
    # As in Salt: the module's own options, which the configured ones override.
    if isinstance(defaults, dict) and defaults:
        module.__dict__["__opts__"] = View(library, lambda call: _with_defaults(call.opts, defaults))
    library.modules[name] = module
    return module


def _with_defaults(options: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    for name, value in defaults.items():
        options.setdefault(name, value)
    return options


def pour(library: Library) -> dict[str, Any]:
    """The names that every module expects in its globals."""
    views: dict[str, Any] = {name: View(library, lookup) for name, lookup in DUNDERS.items()}
    lists = {name: ListView(library, lookup) for name, lookup in LISTS.items()}
    return {**views, **lists, **{name: lookup(library.call()) for name, lookup in VALUES.items()}}


def stand_in(library: Library, module: str, path: str) -> str:
    """The name of a module for our functions, in which Salt-style code looks for its globals."""
    name = f"{LOADED}.int.modules.{module}"
    if name not in library.modules:
        made = ModuleType(name)
        made.__dict__.update(pour(library), __file__=path)
        library.modules[name] = made
        library.show(made)
    return name


def _stem(path: str) -> str:
    directory, name = os.path.split(path)
    return os.path.basename(directory) if name == "__init__.py" else name.removesuffix(".py")


def _code(name: str, path: str, *, own: bool) -> Any:
    """The compiled code; it is cached beside Salt's own files, but never in the user's tree."""
    from importlib.machinery import SourceFileLoader

    if not own:
        return SourceFileLoader(name, path).get_code(name)
    with open(path, "rb") as file:
        return compile(file.read(), path, "exec", dont_inherit=True)


@contextmanager
def name_modules(modules: dict[str, ModuleType]) -> Iterator[None]:
    """Register modules under their names while their code runs: dataclasses and other modules look for them
    there.
    """
    before = _named_now()
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in _named_now():
            del sys.modules[name]
        sys.modules.update(before)


def _named_now() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.startswith(LOADED)}


def _initialise(library: Library, module: ModuleType, path: str) -> None:
    begin = vars(module).get("__init__")
    if not isinstance(begin, FunctionType):
        return
    try:
        with library.idle(module):
            begin(library.call().opts)
    except Exception as problem:
        raise Unavailable(f"{path}: __init__ failed: {problem}", broken=True) from None


def _names(library: Library, module: ModuleType, stem: str) -> tuple[str, ...]:
    """The names, by ``__virtual__`` and ``__virtualname__``. Raises ``Unavailable`` if the module refuses."""
    known = vars(module)
    ask = known.get("__virtual__")
    answer: Any = True
    why, failed = "", False
    if callable(ask):
        try:
            with library.idle(module):
                answer = ask()
        except Exception as problem:
            failed = True
            answer, why = False, f"__virtual__ failed: {type(problem).__name__}: {problem}"
        if isinstance(answer, tuple):
            answer, why = answer[0], str(answer[1]) if len(answer) > 1 else ""
    if not answer:
        why_not = f"{module.__file__}: {why or 'it reports that it does not support this machine'}"
        raise Unavailable(why_not, refused=not failed)
    usual = known.get("__virtualname__", answer if isinstance(answer, str) else stem)
    usual = usual if isinstance(usual, str) else stem
    return tuple(dict.fromkeys((usual, *known.get("__virtual_aliases__", ()))))


def _functions(module: ModuleType) -> Iterator[tuple[str, Raw]]:
    """The functions that may be called: those of the file itself, by their aliases."""
    known = vars(module)
    aliases = known.get("__func_alias__", {})
    for name in known.get("__load__", known.get("__all__", sorted(known))):
        body = known.get(name)
        if name.startswith("_") or not isinstance(body, FunctionType | partial):
            continue
        if isinstance(body, partial) or str(body.__module__).startswith(LOADED):
            yield aliases.get(name, name), body


def _with_dependencies(functions: dict[str, Raw], kind: str, stem: str) -> dict[str, Raw]:
    """The functions without those whose ``depends`` is not fulfilled."""
    kept = {
        name: chosen for name, body in functions.items() if (chosen := _usable_function(body)) is not None
    }
    decorators = sys.modules.get("salt.utils.decorators")
    if decorators is None:
        return kept
    by_full_name = {f"{stem}.{name}": body for name, body in kept.items()}
    try:
        decorators.Depends.enforce_dependencies(by_full_name, KINDS.get(kind, kind), stem)
    except Exception:
        return kept
    return {name.partition(".")[2]: body for name, body in by_full_name.items()}


def _usable_function(body: Raw) -> Raw | None:
    """The function; or the fallback function that it names."""
    for wanted in getattr(body, "__saltern_depends__", ()):
        if not wanted.met(getattr(body, "__globals__", {})):
            other: Raw | None = wanted.fallback
            return other
    return body


def _teach_logging() -> None:
    """Add the two further log levels of Salt, which modules use."""
    import logging

    if hasattr(logging.Logger, "trace"):
        return
    for name, level in (("trace", 5), ("garbage", 1), ("profile", 15)):
        logging.addLevelName(level, name.upper())
        setattr(logging.Logger, name, _logs_at(level))


def _logs_at(level: int) -> Callable[..., None]:
    def log(logger: Any, message: object, *args: object, **kwargs: Any) -> None:
        if logger.isEnabledFor(level):
            logger._log(level, message, args, **kwargs)

    return log
