"""Problems of a roster file: collected, each with its line, and reported together."""

from __future__ import annotations

from collections.abc import Iterable

from saltern.language.diagnostics import Diagnostics, did_you_mean
from saltern.language.source import Mark, Path

CODE = "roster-file"


class Page:
    """One file of a roster: its name and text, and the problems that are found in it."""

    def __init__(self, file: str, text: str, found: Diagnostics) -> None:
        self.file = file
        self.text = text
        self.found = found

    def line(self, number: int) -> Mark:
        return Mark(self.file, number)

    def place(self, path: Path) -> Mark:
        """The place of a value in YAML."""
        from saltern.render.yaml_places import locate

        return Mark(self.file, *locate(self.text, path))

    def wrong(self, what: str, where: Mark, fix: str = "") -> None:
        self.found.error(CODE, what, where=where, fix=fix)

    def warn(self, what: str, where: Mark, fix: str = "") -> None:
        self.found.warn(CODE, what, where=where, fix=fix)

    def unknown(self, kind: str, name: str, known: Iterable[str], where: Mark) -> None:
        """Warn of a name that is not known, with the nearest one that is."""
        self.warn(f"{kind} has no {name!r}", where, did_you_mean(name, known) or "it is ignored")
