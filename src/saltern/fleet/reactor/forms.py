"""Reads a rendered reaction file: all of Salt's forms into one. Pure.

The old form gives ``arg`` and ``kwarg``, or the names of a runner's arguments beside each other; the new one
gives ``args``. ``cmd`` is an old name of ``local``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from saltern.language.diagnostics import did_you_mean
from saltern.language.source import Path
from saltern.targeting.problem import BadTarget
from saltern.targeting.salt_types import compound_of

ALIASES = {"cmd": "local"}
KINDS = ("local", "runner", "wheel", "caller")
AROUND = frozenset({"name", "names", "order", "fun", "key", "state", "__id__", "__sls__"})
_WORD = re.compile(r"(?P<key>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
Lines = Callable[[Path], int]


class Reaction(Struct, frozen=True, kw_only=True):
    """One thing to do. ``name`` is its ID in the file, ``line`` where that begins."""

    kind: str
    function: str
    name: str
    line: int = 0
    source: str = ""
    target: str = ""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    options: dict[str, Any] = {}


class Wrong(Struct, frozen=True, kw_only=True):
    """A mistake in a file: where, and why."""

    line: int
    why: str
    source: str = ""
    name: str = ""


class _Bad(Exception):
    """Why a reaction cannot be read."""


def read_reactions(data: object, line_of: Lines) -> tuple[list[Reaction], list[Wrong]]:
    """All reactions of a rendered file, in order, and its mistakes."""
    found: list[Reaction] = []
    wrong: list[Wrong] = []
    if data is None or data == "":
        return found, wrong
    if not isinstance(data, dict):
        return found, [Wrong(line=1, why="the file renders to no mapping of IDs to reactions")]
    for path, id_, key, items in _declared_functions(data):
        line = line_of(path)
        try:
            found += _reactions(id_, key, items, line)
        except (_Bad, BadTarget) as problem:
            wrong.append(Wrong(line=line, why=str(problem), name=id_))
    return sorted(found, key=_order), wrong


def _declared_functions(data: Mapping[Any, Any]) -> Iterator[tuple[Path, str, str, object]]:
    """Each function below each ID, with its path."""
    for id_, body in data.items():
        if str(id_).startswith("__"):
            continue
        if isinstance(body, str):
            yield (id_,), str(id_), body, []
        elif not isinstance(body, dict):
            yield (id_,), str(id_), "", body
        else:
            for key, items in body.items():
                if not str(key).startswith("_"):
                    yield (id_, key), str(id_), str(key), items


def _order(reaction: Reaction) -> float:
    order = reaction.options.get("order")
    return float(order) if isinstance(order, int | float) else 10_000.0


def _reactions(id_: str, key: str, items: object, line: int) -> list[Reaction]:
    kind, _, function = key.partition(".")
    kind = ALIASES.get(kind, kind)
    if kind not in KINDS:
        fix = did_you_mean(kind, (*KINDS, *ALIASES)) or f"it begins with one of {', '.join(KINDS)}"
        raise _Bad(f"{id_!r} has {key!r}, which is not a reaction: {fix}")
    given, functions = _given_arguments(id_, key, items)
    functions = [function] if function else functions
    if len(functions) != 1 or "." not in functions[0]:
        raise _Bad(f"{id_!r} needs one function, such as '{kind}.state.apply'")
    read = _local if kind == "local" else _caller if kind == "caller" else _own_machine
    made = read(id_, given)
    if "order" in given:
        made["options"] = {**made.get("options", {}), "order": given["order"]}
    return [Reaction(kind=kind, function=functions[0], name=id_, line=line, **made)]


def _given_arguments(id_: str, key: str, items: object) -> tuple[dict[str, Any], list[str]]:
    """The keyword arguments in a list of single-key mappings, and its bare words."""
    if items is None:
        return {}, []
    if not isinstance(items, list):
        raise _Bad(f"the arguments of {id_!r} {key!r} are no list: begin each with '- '")
    given: dict[str, Any] = {}
    for item in items:
        if isinstance(item, dict):
            given |= {str(name): value for name, value in item.items()}
    return given, [item for item in items if isinstance(item, str)]


def _args(id_: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """``args`` of the new form: keywords, as a mapping or as a list of single ones."""
    value = given["args"]
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        value = {name: inner for one in value for name, inner in one.items()}
    if not isinstance(value, dict):
        raise _Bad(f"'args' of {id_!r} are keywords ('- NAME: VALUE'); positional ones are given by 'arg'")
    return {str(name): inner for name, inner in value.items()}


def _positional(given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """``arg`` and ``kwarg`` of the old form; a text such as ``pillar={...}`` among them is a keyword."""
    value = given.get("arg", [])
    several = list(value) if isinstance(value, list | tuple) else [value]
    keywords = given.get("kwarg") or {}
    if isinstance(keywords, list):
        keywords = {name: inner for one in keywords if isinstance(one, dict) for name, inner in one.items()}
    if not isinstance(keywords, dict):
        raise _Bad(f"'kwarg' is a mapping of keywords ('NAME: VALUE'), not {keywords!r}")
    args: list[Any] = []
    for one in several:
        found = _WORD.fullmatch(one) if isinstance(one, str) else None
        if found:
            keywords = {**keywords, found["key"]: _value(found["value"])}
        else:
            args.append(one)
    return args, dict(keywords)


def _value(text: str) -> object:
    """A value as Salt's command line reads it."""
    from saltern.render.yaml import read
    from saltern.render.yaml_limits import YamlProblem

    try:
        return read(text) if text.strip() else text
    except YamlProblem:
        return text


LOCAL_OPTIONS = (
    "timeout",
    "ret",
    "ret_config",
    "ret_kwargs",
    "batch",
    "batch_size",
    "subset",
    "queue",
    "failhard",
)


def _local(id_: str, given: Mapping[str, Any]) -> dict[str, Any]:
    if "tgt" not in given:
        raise _Bad(f"{id_!r} has no 'tgt': on which systems?")
    kind = str(given.get("tgt_type") or given.get("expr_form") or "glob")
    target = given["tgt"]
    expression = compound_of(target if isinstance(target, list) else str(target), kind)
    known = {"tgt", "tgt_type", "expr_form", "arg", "kwarg", "args", *LOCAL_OPTIONS} | AROUND
    if unknown := sorted(given.keys() - known):
        raise _Bad(f"{id_!r} has {unknown[0]!r} beside 'tgt'; arguments of the function are given by 'args'")
    args, kwargs = ([], _args(id_, given)) if "args" in given else _positional(given)
    options = {name: given[name] for name in LOCAL_OPTIONS if name in given}
    return {"target": expression, "args": args, "kwargs": kwargs, "options": options}


def _own_machine(id_: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """A runner or a wheel function: in the old form its arguments are separate keys."""
    if "args" in given:
        return {"kwargs": _args(id_, given)}
    args, kwargs = _positional(given)
    beside = {name: value for name, value in given.items() if name not in AROUND | {"arg", "kwarg"}}
    return {"args": args, "kwargs": {**beside, **kwargs}}


def _caller(id_: str, given: Mapping[str, Any]) -> dict[str, Any]:
    value = given.get("args")
    if isinstance(value, list) and not all(isinstance(one, dict) for one in value):
        return {"args": value}  # its old form
    if "args" in given:
        return {"kwargs": _args(id_, given)}
    args, kwargs = _positional(given)
    return {"args": args, "kwargs": kwargs}
