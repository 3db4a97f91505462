"""The inputs of a chain: checks the values of a run, and fills them into the actions that refer to them.
Pure.

``${input:NAME}`` in a text of an action refers to an input. A text that is only a reference becomes the value
with its type; in a longer text, the value is inserted as text. ``$${input:NAME}`` is left as
``${input:NAME}``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from saltern.language.diagnostics import did_you_mean

Type = Literal["string", "integer", "number", "boolean", "list", "mapping"]
Problem = tuple[str, str, str]  # the input, what is wrong, what to do
MASK = "(concealed)"
_REFERENCE = re.compile(r"(\$?)\$\{input:([^}]*)\}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,2})?", re.IGNORECASE)
_YES_NO = {"true": True, "yes": True, "false": False, "no": False}


class Input(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One input. ``enum``: the allowed values. ``pattern``: a regular expression that must match the whole
    string. ``secret``: its value is never shown.
    """

    type: Type = "string"
    required: bool = False
    default: Any | UnsetType = UNSET
    enum: Annotated[list[Any], Meta(min_length=1)] | None = None
    pattern: Annotated[str, Meta(min_length=1)] | None = None
    secret: bool = False
    description: str = ""


# -- values -------------------------------------------------------------------------------------------


def _string(value: object) -> object:
    if isinstance(value, str):
        return value
    raise ValueError("a string")


def _integer(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,18}", value):
        return int(value)
    raise ValueError("an integer")


def _number(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf"):
        return value
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    raise ValueError("a number")


def _boolean(value: object) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _YES_NO:
        return _YES_NO[value.lower()]
    raise ValueError("true or false")


def _list(value: object) -> object:
    if isinstance(value, list):
        return value
    raise ValueError("a list")


def _mapping(value: object) -> object:
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return dict(value)
    raise ValueError("a mapping of names")


READERS: dict[str, Callable[[object], object]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "list": _list,
    "mapping": _mapping,
}


def read_value(spec: Input, value: object) -> object:
    """The value converted to its type. Raises ``ValueError``, which never contains a secret."""
    shown = "" if spec.secret else f", not {_as_text(value)!r}"
    try:
        found = READERS[spec.type](value)
    except ValueError as wanted:
        raise ValueError(f"it must be {wanted}{shown}") from None
    if spec.enum is not None and not any(_same(found, one) for one in spec.enum):
        raise ValueError(f"it must be one of {', '.join(map(_as_text, spec.enum))}{shown}")
    if spec.pattern is not None and re.fullmatch(spec.pattern, str(found)) is None:
        raise ValueError(f"it must match {spec.pattern!r}{shown}")
    return found


def _same(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def resolve(specs: Mapping[str, Input], given: Mapping[str, object]) -> tuple[dict[str, Any], list[Problem]]:
    """The value of each input, and every problem. A chain that declares no inputs takes any."""
    if not specs:
        return dict(given), []
    values: dict[str, Any] = {}
    problems: list[Problem] = [
        (name, f"the chain has no input {name!r}", did_you_mean(name, specs) or f"it has {', '.join(specs)}")
        for name in given
        if name not in specs
    ]
    for name, spec in specs.items():
        if name in given:
            try:
                values[name] = read_value(spec, given[name])
            except ValueError as problem:
                problems.append((name, f"input {name!r}: {problem}", f"give it with --input {name}=VALUE"))
        elif spec.default is not UNSET:
            values[name] = spec.default
        elif spec.required:
            problems.append((name, f"input {name!r} is missing", f"give it with --input {name}=VALUE"))
    return values, problems


def mask_values(specs: Mapping[str, Input], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with secrets masked."""
    return {name: MASK if name in specs and specs[name].secret else value for name, value in values.items()}


def secret_names(specs: Mapping[str, Input]) -> list[str]:
    return [name for name, spec in specs.items() if spec.secret]


# -- declarations ---------------------------------------------------------------------------------


def mistakes(spec: Input) -> Iterator[tuple[str, str]]:
    """The mistakes in a declaration: the key and the reason."""
    if spec.required and spec.default is not UNSET:
        yield "required", "an input with a default is never missing"
    if spec.pattern is not None and spec.type != "string":
        yield "pattern", f"only a string has a pattern, and this is of type {spec.type}"
    try:
        re.compile(spec.pattern or "")
    except re.error as problem:
        yield "pattern", f"it is not a regular expression: {problem}"
        return
    for value in spec.enum or ():
        yield from _fits(Input(type=spec.type, secret=spec.secret), "enum", value)
    if spec.default is not UNSET:
        yield from _fits(spec, "default", spec.default)


def _fits(spec: Input, key: str, value: object) -> Iterator[tuple[str, str]]:
    try:
        exact = read_value(spec, value)
    except ValueError as problem:
        yield key, str(problem)
        return
    if type(exact) is not type(value) and spec.type != "mapping":
        yield key, f"it must be {spec.type}, not a text" if isinstance(value, str) else "its type is another"


# -- references ---------------------------------------------------------------------------------------


def references(value: object) -> set[str]:
    """The names of all inputs that the texts of a value refer to."""
    if isinstance(value, str):
        return {found[2] for found in _REFERENCE.finditer(value) if not found[1]}
    if isinstance(value, Mapping):
        return {name for one in value.values() for name in references(one)}
    return {name for one in value for name in references(one)} if isinstance(value, list) else set()


def fill_inputs(value: Any, values: Mapping[str, Any], *, written: bool = False) -> Any:
    """The value with references replaced by inputs. An input without a value becomes an empty text.

    ``written``: all are inserted as text, for keys that take only texts.
    """
    if isinstance(value, str):
        whole = _REFERENCE.fullmatch(value)
        if whole is not None and not whole[1] and not written:
            return values.get(whole[2], "")
        return _REFERENCE.sub(lambda found: _text(found, values), value)
    if isinstance(value, Mapping):
        return {key: fill_inputs(one, values, written=written) for key, one in value.items()}
    return [fill_inputs(one, values, written=written) for one in value] if isinstance(value, list) else value


def _text(found: re.Match[str], values: Mapping[str, Any]) -> str:
    return found[0][1:] if found[1] else _as_text(values.get(found[2], ""))


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    from msgspec import json

    return json.encode(value).decode()


def samples(specs: Mapping[str, Input]) -> Sequence[dict[str, Any]]:
    """Values for checking a file without a run: defaults, and sample texts."""
    return [{name: _sample(name, spec, text) for name, spec in specs.items()} for text in _TEXTS]


_TEXTS = ("", "0644", "/input", "1")
_SAMPLES: dict[str, Any] = {
    "integer": 1,
    "number": 1,
    "boolean": True,
    "list": ["input"],
    "mapping": {"input": "1"},
}


def _sample(name: str, spec: Input, text: str) -> Any:
    if spec.default is not UNSET:
        return spec.default
    if spec.enum is not None:
        return spec.enum[0]
    return _SAMPLES.get(spec.type, text or f"${{input:{name}}}")
