"""Signatures as schemas, which check and convert arguments, and supply the reference pages.

They are read from the code object and the annotation texts, once per function; nothing is
inspected or evaluated per call. A group of parameters (``groups``) counts as if written out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TypeVar

from msgspec import Struct

from saltern.language.diagnostics import did_you_mean
from saltern.language.keywords import ENGINE_WORDS, INTERNAL
from saltern.modules.api.groups import Group, default_of, group_of

T = TypeVar("T")

VARARGS, VARKEYS = 0x04, 0x08

# The kinds of further keywords, by the annotation of the ``**`` parameter. Any other annotation: data.
Ignored = object  # accepted, as in Salt, but reported while compiling; not passed to the function
Unused = object  # the same, but passed to the function, which warns about them in its result
Variables = object  # variables for the template that the function renders
NOT_DATA = frozenset({"Ignored", "Unused", "Variables"})


class BadArgument(Exception):
    """An invalid value for an argument; the text is for the user."""


class Param(Struct, frozen=True, kw_only=True):
    name: str
    annotation: str = "object"
    required: bool = True
    default: object = None


class Schema(Struct, frozen=True, kw_only=True):
    """The parameters of a function, without the context and the name."""

    params: dict[str, Param]
    converters: dict[str, Callable[[object], object]]
    required: tuple[str, ...]
    open: bool  # further keywords are passed to it
    lenient: bool = False  # accepts unknown keywords
    rest: str = ""  # the kind of further keywords: one of ``NOT_DATA``, or anything else
    key: str = ""  # such as ``file.managed``, for a built-in state

    @property
    def takes_anything(self) -> bool:
        """True if the function uses keywords of any name."""
        return self.open and self.rest not in NOT_DATA


def schema_of(body: Callable[..., object], *, skip: int, key: str = "") -> Schema:
    """The schema of ``body``; its first ``skip`` parameters are passed by the engine."""
    assert isinstance(body, FunctionType)
    code = body.__code__
    positional = code.co_varnames[: code.co_argcount]
    keyword_only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = dict(zip(reversed(positional), reversed(body.__defaults__ or ()), strict=False))
    defaults.update(body.__kwdefaults__ or {})
    params = {
        name: Param(
            name=name,
            annotation=str(body.__annotations__.get(name, "object")),
            required=name not in defaults,
            default=defaults.get(name),
        )
        for name in (*positional[skip:], *keyword_only)
    }
    rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & VARARGS) :][:1]
    catches = bool(code.co_flags & VARKEYS)
    kind = str(body.__annotations__.get(rest[0], "object")) if catches else ""
    if (group := group_of(body, kind)) is not None:
        params |= {name: _of_group(group, name) for name in group.keys}
        kind, catches = group.rest, bool(group.rest)
    return Schema(
        params=params,
        converters={
            name: convert
            for name, param in params.items()
            if (convert := _converter(param.annotation)) is not None
        },
        required=tuple(name for name, param in params.items() if param.required),
        open=catches and kind != "Ignored",
        lenient=kind == "Ignored",
        rest=kind,
        key=key,
    )


def _of_group(group: Group, name: str) -> Param:
    annotation, required = group.keys[name], name in group.required
    default = None if required else default_of(name, annotation)
    return Param(name=name, annotation=annotation, required=required, default=default)


def call_bound(body: Callable[..., T], ctx: object, name: str, given: Mapping[str, object]) -> T:
    """Call a state function with arguments from an SLS, for the reaction to a watched state."""
    return body(ctx, name, **bind(schema_of(body, skip=2), given))


def bind(schema: Schema, args: Mapping[str, object]) -> dict[str, object]:
    """The keywords for a call. Engine words are left out unless the function names them.

    Raises ``BadArgument`` with one line for every problem.
    """
    params = schema.params
    bound: dict[str, object] = {}
    problems: list[str] = []
    given: Iterable[tuple[object, object]] = args.items()  # YAML keys can have any type
    for name, value in given:
        if not isinstance(name, str):
            problems.append(f"the argument {name!r} is not a text")
        elif name in params:
            convert = schema.converters.get(name)
            try:
                bound[name] = value if convert is None else convert(value)
            except BadArgument as problem:
                problems.append(f"argument {name!r}: {problem}")
        elif name in ENGINE_WORDS or name in INTERNAL or name.startswith("__"):
            continue
        elif schema.open and schema.rest not in NOT_DATA:
            bound[name] = value
        elif refusal := _refusal(schema, name, args):
            problems.append(refusal)
        elif schema.open:
            bound[name] = value
    problems += [f"argument {name!r} is missing" for name in schema.required if name not in bound]
    if problems:
        raise BadArgument("\n".join(problems))
    return bound


def _refusal(schema: Schema, name: str, args: Mapping[str, object]) -> str:
    """Why a state is not called with an unknown argument; empty if the argument is accepted."""
    from saltern.modules.api.salt_arguments import decisive_slip, effect_of_ignoring, harm_of_ignoring

    if harm := harm_of_ignoring(schema.key, name, args[name]):
        return f"the argument {name!r} is not supported: {harm}"
    if effect_of_ignoring(schema.key, name) is not None:
        return ""
    if schema.open or schema.lenient:
        meant = decisive_slip(schema.key, name, args)
        return f"no argument is called {name!r}; did you mean {meant!r}?" if meant else ""
    return unknown_argument(name, schema.params)


def unknown_argument(name: str, known: Iterable[str]) -> str:
    hint = did_you_mean(name, known)
    return f"no argument is called {name!r}" + (f"; {hint}" if hint else "")


def _text(value: object) -> object:
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return value
    raise BadArgument(f"needs text, got {_kind(value)}")


def _integer(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BadArgument(f"needs a number, got {_kind(value)}")
    try:
        return int(value)
    except (ValueError, OverflowError):
        raise BadArgument(f"needs a number, got {value!r}") from None


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BadArgument(f"needs a number, got {_kind(value)}")
    try:
        return float(value)
    except ValueError:
        raise BadArgument(f"needs a number, got {value!r}") from None


TRUE_WORDS = frozenset({"true", "yes", "on", "1"})
FALSE_WORDS = frozenset({"false", "no", "off", "0", ""})


def _flag(value: object) -> object:
    if isinstance(value, bool):
        return value
    if value is None:
        return False
    if isinstance(value, int):
        return bool(value)
    if isinstance(value, str) and value.lower() in TRUE_WORDS | FALSE_WORDS:
        return value.lower() in TRUE_WORDS
    raise BadArgument(f"needs true or false, got {value!r}")


def _texts(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_text(item) for item in value]
    return [_text(value)]


def _mapping(value: object) -> object:
    if isinstance(value, Mapping):
        return value
    if isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
        return {key: inner for item in value for key, inner in item.items()}
    raise BadArgument(f"needs a mapping, got {_kind(value)}")


def _mode(value: object) -> object:
    """The mode; YAML reads ``0644`` as the number 644, as in Salt; quoted text is octal, too."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise BadArgument(f"needs a file mode such as 0644, got {_kind(value)}")
    text = str(value).strip()
    if text == "keep":
        return text
    text = text.removeprefix("0o") or "0"
    if not all(digit in "01234567" for digit in text) or len(text) > 5:
        raise BadArgument(f"needs an octal file mode such as 0644, got {value!r}")
    return text.lstrip("0").zfill(4)


CONVERTERS: dict[str, Callable[[object], object]] = {
    "str": _text,
    "int": _integer,
    "float": _number,
    "bool": _flag,
    "list[str]": _texts,
    "dict[str, object]": _mapping,
    "Mode": _mode,
}


def _text_or_texts(value: object) -> object:
    return _texts(value) if isinstance(value, list | tuple) else _text(value)


def _converter(annotation: str) -> Callable[[object], object] | None:
    """The converter for an annotation's text; none if there is no row for it."""
    parts = [part.strip() for part in annotation.split("|")]
    if {"str", "list[str]"} <= set(parts) <= {"str", "list[str]", "None"}:
        optional = "None" in parts
        return lambda value: None if optional and value is None else _text_or_texts(value)
    found = [CONVERTERS[part] for part in parts if part in CONVERTERS]
    if len(found) != 1 or len(parts) > 2:
        return None
    convert = found[0]
    if "None" in parts:
        return lambda value: None if value is None else convert(value)
    return convert if len(parts) == 1 else None


def _kind(value: object) -> str:
    names = {dict: "a mapping", list: "a list", type(None): "nothing", bool: "true or false", str: "text"}
    return names.get(type(value), type(value).__name__)
