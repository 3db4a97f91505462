"""Findings in the files of a Salt master: top files, reactions, pillar."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from saltern.config.files import Read
from saltern.migration.build import Finding
from saltern.migration.keys import CHANGED, MISSING, SAME

_EXTENSION = re.compile(r"^[^#]*\b(?:local|cmd|caller|runner)\.saltern\.(?P<name>\w+)")
_BY_ITSELF = "remove it: an agent resumes the runs and chains of its jobs by itself"
INSTEAD = {
    "saltern.apply": "call state.apply, with the same arguments",
    "saltern.resume": _BY_ITSELF,
    "saltern.chain_continue": _BY_ITSELF,
    "saltern.chain_resume": _BY_ITSELF,
}
"""The replacements, in reactions of a controller, for functions of the Salt extension."""
ROOTS = {"file_roots": "states", "pillar_roots": "pillar"}


def file_findings(master: Read) -> Iterator[Finding]:
    """The findings for each missing root, each top file and each reaction file."""
    for option, what in ROOTS.items():
        for environment, root in _directories(master.values.get(option)):
            where = str(master.mark(option) or "")
            if not os.path.isdir(root):
                advice = "create it, or remove it from controller.yaml"
                yield Finding(kind=CHANGED, what=f"{root} is not a directory", where=where, advice=advice)
            elif os.path.isfile(top := os.path.join(root, "top.sls")):
                yield Finding(kind=SAME, what=f"the top file of the {what} of {environment}", where=top)
    yield from _reactions(master)


def _directories(roots: object) -> Iterator[tuple[str, str]]:
    for environment, some in roots.items() if isinstance(roots, Mapping) else ():
        for root in some if isinstance(some, list) else ():
            if "://" not in str(root):
                yield str(environment), str(root)


def _reactions(master: Read) -> Iterator[Finding]:
    """The files of the reactor: existing ones work unchanged, unless they call the extension."""
    given = master.values.get("reactor")
    where = str(master.mark("reactor") or "")
    for one in given if isinstance(given, list) else ():
        for tag, files in one.items() if isinstance(one, dict) else ():
            for file in map(str, files if isinstance(files, list) else [files]):
                yield from _reaction(
                    file, f"{file}, the reaction to {tag}", where, _reaction_path(master, file)
                )


def _reaction(file: str, what: str, where: str, path: str) -> Iterator[Finding]:
    if not path and not file.startswith("salt://"):
        advice = "events with that tag fail until it exists"
        yield Finding(kind=MISSING, what=f"{what}, is missing", where=where, advice=advice)
        return
    calls = _extension_calls(path) if path else []
    for line, function in calls:
        what_calls = f"{what}, calls {function}, which agents do not have"
        yield Finding(kind=CHANGED, what=what_calls, where=f"{path}:{line}", advice=_instead(function))
    if not calls:
        yield Finding(kind=SAME, what=what, where=where)


def _reaction_path(master: Read, file: str) -> str:
    """The path of a reaction file; empty if it is not on this machine."""
    inner = file.removeprefix("salt://")
    names = [file] if inner == file else [
        os.path.join(root, inner)
        for environment, root in _directories(master.values.get("file_roots"))
        if environment == "base"
    ]  # fmt: skip
    return next((path for path in names if os.path.isfile(path)), "")


def _extension_calls(path: str) -> list[tuple[int, str]]:
    """The lines of a reaction file that call a function of the Salt extension, and the function."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = [(number, _EXTENSION.search(line)) for number, line in enumerate(file, 1)]
    except OSError:
        return []
    return [(number, f"saltern.{match['name']}") for number, match in found if match]


def _instead(function: str) -> str:
    other = "a controller has chains of its own: docs/guides/chains-across-systems.md"
    if not function.startswith("saltern.chain_"):
        other = "call a function that agents have: docs/reference/modules/index.md"
    return INSTEAD.get(function, other)
