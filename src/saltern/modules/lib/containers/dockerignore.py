"""``.dockerignore``: the files that a build leaves out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable


def ignore_rule(path: str, *, keep: tuple[str, ...]) -> Callable[[str], bool]:
    """A function that is true for ignored names below ``path``; ``keep`` is never ignored. The last rule
    wins.
    """
    rules = list(_rules(os.path.join(path, ".dockerignore")))
    if not rules:
        return lambda _: False

    def leave(name: str) -> bool:
        inner = name.removeprefix("./")
        if inner in (".", *keep):
            return False
        out = False
        for pattern, again in rules:
            if pattern.match(inner):
                out = not again
        return out

    return leave


def _rules(file: str) -> list[tuple[re.Pattern[str], bool]]:
    try:
        with open(file, encoding="utf-8", errors="replace") as lines:
            wanted = [line.strip() for line in lines]
    except OSError:
        return []
    rows = [(line.lstrip("!"), line.startswith("!")) for line in wanted if line and not line.startswith("#")]
    return [(_pattern(line.strip("/")), again) for line, again in rows]


def _pattern(rule: str) -> re.Pattern[str]:
    """The pattern of a rule: ``*`` stays in a directory, ``**`` does not; ignored directories include all
    below.
    """
    signs = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", rule)
    return re.compile("".join(signs.get(part) or re.escape(part) for part in parts) + "(?:/.*)?$")
