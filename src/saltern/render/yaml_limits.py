"""How large YAML may be, and what is said of YAML that is wrong: what is needed without a parser at hand."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True):
    depth: int = 100
    nodes: int = 1_000_000


USUAL = Limits()


class YamlProblem(Exception):
    """What is wrong, and the line and column (from 1) in the text that was parsed."""

    def __init__(self, code: str, what: str, line: int, column: int, fix: str = "") -> None:
        super().__init__(what)
        self.code, self.what, self.line, self.column, self.fix = code, what, line, column, fix
