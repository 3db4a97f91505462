"""The limits of YAML, and its problems: usable without importing a parser."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True):
    depth: int = 100
    nodes: int = 1_000_000


USUAL = Limits()


class YamlProblem(Exception):
    """A mistake, and its line and column (from 1) in the parsed text."""

    def __init__(self, code: str, what: str, line: int, column: int, fix: str = "") -> None:
        super().__init__(what)
        self.code, self.what, self.line, self.column, self.fix = code, what, line, column, fix
