"""A module of the minion that runs trees of the conformance suite by ``state.apply`` and ``saltern.apply``.

Both run in one job, with the minion's own functions. Master and minion are on one machine: the roots of the
master have links, which this leads to each tree in turn.
"""

# ruff: noqa: F821 - the loader of Salt sets them

from __future__ import annotations

import json
import os
import shutil
from typing import Any

__salt__: Any
__opts__: Any
__grains__: Any
FUNCTIONS = ("state.apply", "saltern.apply")


def run(order: str, answers: str) -> int:
    """Run the trees that the file ``order`` lists; what each function returned is in the file ``answers``."""
    with open(order, encoding="utf-8") as file:
        asked = json.load(file)
    found = {case["name"]: [_run(case, asked["place"], one) for one in FUNCTIONS] for case in asked["cases"]}
    with open(answers, "w", encoding="utf-8") as file:
        json.dump(found, file, default=str)
    return len(found)


def _run(case: dict[str, Any], place: str, function: str) -> dict[str, Any]:
    """What the steps of a tree return, and the files that they leave."""
    scratch = os.path.join(place, "scratch")
    _lead(os.path.join(place, "case"), case["states"])
    _lead(os.path.join(place, "case-pillar"), case["pillar"] or os.path.join(place, "pillar"))
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    if case["scratch"]:
        shutil.copytree(case["scratch"], scratch, symlinks=True, dirs_exist_ok=True)
    functions = _functions(case)
    steps = [_step(functions[function], one, scratch) for one in case["steps"]]
    return {"steps": steps, "files": _files(scratch)}


def _functions(case: dict[str, Any]) -> Any:
    """The functions of the minion, with the options and grains of a tree. No tree has modules of its own."""
    import salt.loader

    options = {name: __opts__[name] for name in __opts__}
    options |= {"autoload_dynamic_modules": False, **case["config"]}
    options["grains"] = {**dict(__grains__.items()), **case["grains"]}
    return salt.loader.minion_mods(options, utils=salt.loader.utils(options))


def _step(function: Any, step: dict[str, Any], scratch: str) -> Any:
    words = {"pillar": {"scratch": scratch, **step["pillar"]}, "test": step["test"]}
    try:
        return function(step["sls"] or None, **words)
    except Exception as problem:
        return [f"{type(problem).__name__}: {problem}"]


def _lead(link: str, target: str) -> None:
    os.symlink(target, f"{link}.new")
    os.replace(f"{link}.new", link)


def _files(scratch: str) -> dict[str, str]:
    """The files below a directory, with what is in them."""
    found = {}
    for folder, _, names in os.walk(scratch):
        for name in names:
            if not os.path.isfile(path := os.path.join(folder, name)):
                continue
            with open(path, "rb") as file:
                found[os.path.relpath(path, scratch)] = file.read().decode("utf-8", "replace")
    return found
