"""Holds of pacman: ``IgnorePkg`` in its configuration, for which there is no command."""

from __future__ import annotations

import re
from collections.abc import Sequence

from saltern.modules.lib.packages.tool import Tool
from saltern.system.host import Host

CONFIG = "/etc/pacman.conf"
IGNORED = re.compile(r"^\s*IgnorePkg\s*=\s*(.*?)\s*$")
OPTIONS = re.compile(r"^\s*\[options\]", re.MULTILINE)


class PacmanHolds:
    """Reads and writes the configuration."""

    def __init__(self, host: Host, tool: Tool) -> None:
        self._host = host
        self._tool = tool

    def held_names(self) -> frozenset[str]:
        return frozenset(self._tool.ask("pacman-conf", "IgnorePkg").split())

    def why_not(self, names: Sequence[str] = ()) -> str:  # noqa: ARG002
        text = self._host.read(CONFIG) or ""
        return "" if OPTIONS.search(text) else f"{CONFIG} has no section [options], so nothing can be held"

    def hold(self, names: Sequence[str], *, on: bool) -> None:
        self._host.write(CONFIG, ignore_packages(self._host.read(CONFIG) or "", names, on=on))


def ignore_packages(text: str, names: Sequence[str], *, on: bool) -> str:
    """The configuration with these packages in ``IgnorePkg``, or without them."""
    lines = text.splitlines()
    there = [(at, found[1].split()) for at, line in enumerate(lines) if (found := IGNORED.match(line))]
    for at, words in there:
        lines[at] = _ignore_line([word for word in words if on or word not in names])
    if on:
        at, words = there[0] if there else (_behind_options(lines), [])
        new = [*words, *(name for name in names if name not in words)]
        lines[at : at + bool(there)] = [_ignore_line(new)]
    return "".join(f"{line}\n" for line in lines if line != _ignore_line([]))


def _ignore_line(words: list[str]) -> str:
    return f"IgnorePkg = {' '.join(words)}"


def _behind_options(lines: list[str]) -> int:
    return next(at for at, line in enumerate(lines, 1) if OPTIONS.match(line))
