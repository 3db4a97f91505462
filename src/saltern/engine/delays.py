"""The delayed blocks of a run: which are defined, and which are called."""

from __future__ import annotations

from msgspec import Struct, field

from saltern.language.delayed import Block, Limit, scope_of
from saltern.language.diagnostics import Diagnostic
from saltern.language.high import High
from saltern.language.source import Mark


class Delays(Struct):
    """The delayed blocks of a run: which are defined, and which are called."""

    limit: Limit = 1
    defined: dict[tuple[str, ...], Block] = field(default_factory=dict)
    called: set[tuple[str, ...]] = field(default_factory=set)
    wanted: bool = False  # whether any state delays anything
    registers: dict[str, Mark] = field(default_factory=dict)  # of all scopes so far
    warnings: dict[Diagnostic, None] = field(default_factory=dict)  # of frames; each is reported once

    def define(self, high: High) -> None:
        for file in high.files.values():
            for block in scope_of(file.origin).blocks.values():
                self.defined[block.definition] = block

    def unused_blocks(self) -> list[Block]:
        return [block for definition, block in self.defined.items() if definition not in self.called]

    def inside(self, id_: str, why: str = "and requisites stay in their scope") -> str:
        """A hint that an unrendered block declares an ID that the scope lacks; empty if none does."""
        import re

        for block in self.defined.values():
            if re.search(rf"^['\"]?{re.escape(id_)}['\"]?:", block.text, re.MULTILINE):
                return f"it is inside block {block.name!r} ({block.mark}), {why}"
        return ""
