"""Presents a loaded file as one of our modules, with ``StateFunction`` and ``Function``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from saltern.compat.loader import Loaded, Raw
from saltern.compat.natures import nature
from saltern.compat.results import raised_result, to_result, to_salt
from saltern.language.chunk import Chunk
from saltern.language.events import Answer
from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import Function, StateFunction, label_of
from saltern.modules.api.params import Param, Schema

if TYPE_CHECKING:
    from saltern.compat.library import Library
    from saltern.language.nature_words import NatureWords

# Keys that ``Chunk.low`` adds to the arguments.
LOW_NAMES = frozenset(
    {"name", "state", "__id__", "fun", "__env__", "__sls__", "order", "__sls_included_from__", "__agg__"}
)


class SaltState(StateFunction[...]):
    """A state function of a Salt-style module; ``raw`` is the function itself."""

    __slots__ = ("raw",)
    raw: Raw


class SaltFunction(Function[..., Any]):
    """An execution function of a Salt-style module; ``raw`` is the function itself."""

    __slots__ = ("raw",)
    raw: Raw


def present_as(library: Library, loaded: Loaded, kind: str) -> ModuleType:
    """The module for the registry."""
    name = loaded.names[0]
    module = ModuleType(f"saltern.compat.{kind}.{name}", loaded.module.__doc__)
    module.__file__ = loaded.path
    offered = vars(module)
    if kind != "states":
        offered.update({fun: _function(library, loaded, fun, raw) for fun, raw in loaded.functions.items()})
        return module
    begin = _Beginning(library, loaded)
    for fun, raw in loaded.functions.items():
        if fun in COMPANIONS:
            companion = COMPANIONS[fun](library, loaded, raw)
            offered.update({fun: companion} if companion is not None else {})
        else:
            offered[fun] = _state(library, loaded, fun, raw, begin)
    return module


# -- one function ------------------------------------------------------------------------------------


class _Beginning:
    """``mod_init``: called before each state of the module until it returns true."""

    def __init__(self, library: Library, loaded: Loaded) -> None:
        self._library = library
        self._ask = loaded.functions.get("mod_init")

    def __call__(self, ctx: Context) -> None:
        if self._ask is None or ctx.chunk is None:
            return
        if self._ask(ctx.chunk.low()):
            self._ask = None


def _state(library: Library, loaded: Loaded, fun: str, raw: Raw, begin: _Beginning) -> SaltState:
    title = f"{loaded.names[0]}.{fun}"
    schema, takes_name = schema_of(raw)

    def body(ctx: Context, name: str, /, **kwargs: Any) -> Result:
        if takes_name:
            kwargs["name"] = name
        with library.enter_call(ctx, loaded.module):
            try:
                begin(ctx)
                returned = raw(**kwargs)
            except library.salt.exceptions as problem:
                return raised_result(problem, provider=loaded.provider)
            return to_result(returned, title, provider=loaded.provider)

    made = SaltState(body, fun, cast("NatureWords", nature(loaded.names[0], fun, loaded.words)))
    _describe(made, raw, loaded, schema)
    return made


def _function(library: Library, loaded: Loaded, fun: str, raw: Raw) -> SaltFunction:
    def body(ctx: Context, /, *args: Any, **kwargs: Any) -> Any:
        with library.enter_call(ctx, loaded.module):
            return raw(*args, **kwargs)

    made = SaltFunction(body, fun)
    _describe(made, raw, loaded, schema_of(raw, named=False)[0])
    return made


def _describe(made: SaltState | SaltFunction, raw: Raw, loaded: Loaded, schema: Schema) -> None:
    made.raw = raw
    made.schema = schema
    made.doc = raw.__doc__ or ""
    made.module = loaded.names[0]
    if isinstance(made, SaltState):
        made.label = label_of(made)


def schema_of(raw: Raw, *, named: bool = True) -> tuple[Schema, bool]:
    """The parameters of the function, and True if it takes a name. ``named``: the engine passes the name."""
    from inspect import Parameter, signature

    params: dict[str, Param] = {}
    takes_name = is_open = False
    for name, one in signature(raw).parameters.items():
        if one.kind is Parameter.VAR_KEYWORD:
            is_open = True
        elif one.kind is not Parameter.VAR_POSITIONAL:
            required = one.default is Parameter.empty
            params[name] = Param(name=name, required=required, default=None if required else one.default)
    if named:
        takes_name = is_open or "name" in params
        params.pop("name", None)
    required_names = tuple(name for name, param in params.items() if param.required)
    return Schema(params=params, converters={}, required=required_names, open=is_open), takes_name


# -- companions --------------------------------------------------------------------------------------


def _aggregate(library: Library, loaded: Loaded, raw: Raw) -> Callable[..., Chunk]:
    def mod_aggregate(
        ctx: Context, chunk: Chunk, group: Sequence[Chunk], answered: Mapping[str, Answer]
    ) -> Chunk:
        running = {tag: to_salt(answer.result, answer.chunk.name) for tag, answer in answered.items()}
        with library.enter_call(ctx, loaded.module):
            low = raw(chunk.low(), [one.low() for one in group], running)
        return enlarge_chunk(chunk, low) if isinstance(low, Mapping) else chunk

    return mod_aggregate


def enlarge_chunk(chunk: Chunk, low: Mapping[str, Any]) -> Chunk:
    """The chunk with the arguments that ``low`` has now."""
    args = {key: value for key, value in low.items() if key not in LOW_NAMES}
    args |= {key: chunk.args[key] for key in ("order", "name") if key in chunk.args}
    return replace(chunk, args=args)


def _watch(library: Library, loaded: Loaded, raw: Raw) -> SaltState:
    return _state(library, loaded, "mod_watch", raw, _Beginning(library, loaded))


COMPANIONS: dict[str, Callable[[Library, Loaded, Raw], object]] = {
    "mod_watch": _watch,
    "mod_aggregate": _aggregate,
    "mod_run_check": lambda _library, _loaded, raw: raw,  # the module checks onlyif and unless itself
    "mod_run_check_cmd": lambda _library, _loaded, raw: raw,
    "mod_init": lambda _library, _loaded, _raw: None,  # called by ``_Beginning``
    "mod_beacon": lambda _library, _loaded, _raw: None,
}
