"""``stack`` (PillarStack): YAML templates that a configuration lists, each merged over those before it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from glob import glob
from typing import Any

from saltern.compat.pillars.commands import read_yaml
from saltern.compat.pillars.ports import Asked, SourceError, look_up

STRATEGIES = ("overwrite", "merge-first", "merge-last", "remove")
MARK = "__"


def stack(asked: Asked, given: object) -> object:
    """Files that list templates: by path, or by values of the machine in pillar, grains or options."""
    made: dict[str, Any] = {}
    for path in _configurations(given, asked):
        if os.path.isfile(path):
            made = _process(path, made, asked)
    return made


def _configurations(given: object, asked: Asked) -> Iterable[str]:
    for one in given if isinstance(given, list) else [given]:
        if isinstance(one, Mapping):
            yield from (
                path for key, choices in one.items() for path in _chosen_paths(str(key), choices, asked)
            )
        else:
            yield str(one)


def _chosen_paths(key: str, choices: Any, asked: Asked) -> list[str]:
    """``grains:a:b: {value: path}``: the paths for the value that it has."""
    kind, _, path = key.partition(":")
    env = str(asked.opts.get("pillarenv") or asked.opts.get("saltenv") or "base")
    known = {"pillar": asked.pillar, "grains": asked.grains, "opts": asked.opts}
    if kind not in known or not isinstance(choices, Mapping):
        raise SourceError(f"{key!r} is not pillar:…, grains:… or opts:… with values")
    by_value = {env if value == "__env__" else value: paths for value, paths in choices.items()}
    found = by_value.get(look_up(known[kind], path), [])
    return [str(one).replace("__env__", env) for one in (found if isinstance(found, list) else [found])]


def _process(path: str, made: dict[str, Any], asked: Asked) -> dict[str, Any]:
    folder = os.path.dirname(path)
    about = {"traverse": look_up, "cfg_path": path}
    more = {"minion_id": asked.id, "pillar": asked.pillar, "pillarenv": asked.opts.get("pillarenv")}
    more |= {"__opts__": asked.opts, "__grains__": asked.grains, "__stack__": about}
    for item in _items(asked.template(path, {**more, "stack": made})):
        for one in sorted(glob(os.path.join(folder, item))):
            text = asked.template(one, {**more, "stack": made, "ymlpath": one})
            data = read_yaml(text)
            if isinstance(data, dict):
                made = merge_stack(made, data)
    return made


def _items(text: str) -> list[str]:
    """The lines of a configuration, or its items if it is a list in YAML."""
    try:
        data = read_yaml(text)
    except Exception:  # lines with patterns are often not YAML
        data = None
    lines = data if isinstance(data, list) else text.splitlines()
    return [str(line).strip() for line in lines if str(line).strip()]


def merge_stack(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Merge one mapping over another, by the strategy that it names under ``__``."""
    strategy = _strategy(more.get(MARK, "merge-last"))
    rest = {key: value for key, value in more.items() if key != MARK}
    if strategy == "overwrite":
        return {key: _clean(value) for key, value in rest.items()}
    if strategy == "remove":
        return {key: value for key, value in base.items() if key not in rest}
    result = dict(base)
    for key, value in rest.items():
        result[key] = _both(base[key], value, strategy) if key in base else _clean(value)
    return result


def _both(old: Any, new: Any, strategy: str) -> Any:
    if strategy == "merge-first":
        old, new = _clean(new), old
    if type(old) is not type(new):
        return _clean(new)
    if isinstance(new, dict):
        return merge_stack(old, new)
    return _lists(old, new) if isinstance(new, list) else new


def _lists(old: list[Any], new: list[Any]) -> list[Any]:
    marked = bool(new) and isinstance(new[0], dict) and MARK in new[0]
    strategy = _strategy(new[0][MARK] if marked else "merge-last")
    rest = new[1:] if marked else new
    return {
        "overwrite": rest,
        "remove": [one for one in old if one not in rest],
        "merge-first": rest + old,
        "merge-last": old + rest,
    }[strategy]


def _strategy(name: Any) -> str:
    if name not in STRATEGIES:
        raise SourceError(f"no strategy is called {name!r}; there are {', '.join(STRATEGIES)}")
    return str(name)


def _clean(value: Any) -> Any:
    """The data without the keys that select a strategy."""
    if isinstance(value, dict):
        return {key: _clean(inner) for key, inner in value.items() if key != MARK}
    marked = isinstance(value, list) and value and isinstance(value[0], dict) and MARK in value[0]
    return value[1:] if marked else value
