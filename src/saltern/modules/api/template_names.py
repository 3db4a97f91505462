"""The names that the templates of a state mention, to distinguish template variables from mistyped arguments.

An extra argument of ``file.managed`` and similar states is a template variable, as in Salt. Nothing is
rendered here; the texts are only searched, with those that they include, import or extend.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

SOURCES = ("source", "sources", "name")
SCHEME = "salt://"
LOADS = re.compile(r"\{%[-+]?\s*(?:include|import|from|extends)\s+(?:(['\"])(.+?)\1|(\S+))")
MOST_FILES = 2000  # of one directory; beyond that a name counts as mentioned


class Files(Protocol):
    """The part of the file tree that is used here."""

    def find(self, path: str, env: str) -> str | None: ...
    def names(self, env: str) -> list[str]: ...


def mentions(files: Files, args: Mapping[str, object], name: str, env: str) -> bool | None:
    """True if a template of the state mentions ``name``; None if that cannot be determined."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    unknown = False
    for text in _texts(files, args, env):
        if text is None:
            unknown = True
        elif word.search(text):
            return True
    return None if unknown else False


def _texts(files: Files, args: Mapping[str, object], env: str) -> Iterator[str | None]:
    """All texts that may be rendered; None for one that is not in the tree or not named literally."""
    seen: set[str] = set()
    waiting = list(_places(files, args, env))
    while waiting:
        place = waiting.pop()
        path = files.find(place, env) if place else None
        if path is None:
            yield None
        elif path not in seen:
            seen.add(path)
            text = _read(path)
            yield text
            waiting += _loaded_names(text or "", place)


def _places(files: Files, args: Mapping[str, object], env: str) -> Iterable[str]:
    """The files of the tree that the arguments name; empty for others."""
    for url in _urls(args):
        if not url.startswith(SCHEME):
            yield ""
            continue
        place = url.removeprefix(SCHEME).partition("?")[0].strip("/")
        if files.find(place, env) is not None:
            yield place
            continue
        below = [name for name in files.names(env) if name.startswith(f"{place}/")]
        yield from below[:MOST_FILES] if len(below) <= MOST_FILES else [""]


def _urls(args: Mapping[str, object]) -> Iterator[str]:
    given = next((args[word] for word in SOURCES if args.get(word)), None)
    for one in given if isinstance(given, list) else [given]:
        yield str(next(iter(one), "")) if isinstance(one, Mapping) else str(one or "")


def _loaded_names(text: str, beside: str) -> Iterator[str]:
    folder = beside.rpartition("/")[0]
    for _, literal, expression in LOADS.findall(text):
        if expression:
            yield ""
        elif literal.startswith("./"):
            yield f"{folder}/{literal[2:]}".lstrip("/")
        else:
            yield literal.removeprefix(SCHEME)


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None
