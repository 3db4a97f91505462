"""Map a line of rendered text to the line of the template.

A compiled Jinja template is a generator: after each piece that it yields, its frame is still at
the instruction that produced the piece. While rendering, only that number is kept; the lines are
computed on demand, when a problem is reported.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from types import CodeType, GeneratorType
from typing import TYPE_CHECKING

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.runtime import Context


class LineCodeGenerator(CodeGenerator):
    """Gives every piece of output its own line in the template's line table."""

    def visit_Output(self, node: nodes.Output, frame: Frame) -> None:
        for child in node.nodes:
            self.newline(child)
            super().visit_Output(nodes.Output([child], lineno=child.lineno), frame)


class Pieces:
    """The pieces that a template yielded, and the position of its frame for each."""

    __slots__ = ("_code", "_stops", "_template", "texts")

    def __init__(self, template: Template, context: Context, *, most: int) -> None:
        self._template = template
        self.texts: list[str] = []
        self._stops: list[int] = []
        body = template.root_render_func(context)
        assert isinstance(body, GeneratorType)
        self._code: CodeType = body.gi_code
        frame = body.gi_frame
        assert frame is not None  # it has not begun
        size = 0
        for piece in body:
            self.texts.append(piece)
            self._stops.append(frame.f_lasti)
            size += len(piece)
            if size > most:
                raise TooLarge(most)

    def end_line(self) -> None:
        self.texts.append("\n")
        self._stops.append(self._stops[-1] if self._stops else 0)

    def text(self) -> str:
        return "".join(self.texts)

    def lines(self) -> list[int]:
        """For each line of the text, the line of the template.

        Literal text continues from line to line; everything that an expression prints, even
        a macro of many lines, comes from the line of the expression.
        """
        result = [1]
        blank = True
        starts, python_lines = _table(self._code)
        written = {text for text in self._code.co_consts if isinstance(text, str)} | {"\n"}
        for piece, stop in zip(self.texts, self._stops, strict=True):
            here = self._template.get_corresponding_lineno(python_lines[bisect_right(starts, stop) - 1])
            for offset, text in enumerate(piece.split("\n")):
                line = here + offset if piece in written else here
                if offset:
                    result.append(line)
                    blank = True
                if blank and text.strip():
                    result[-1] = line
                    blank = False
        return result


class TooLarge(Exception):
    """A template produced more text than allowed."""

    def __init__(self, most: int) -> None:
        super().__init__(f"this template makes more than {most:,} characters")


def _table(code: CodeType) -> tuple[list[int], list[int]]:
    rows = list(_rows(code))
    return [start for start, _ in rows], [line for _, line in rows]


def _rows(code: CodeType) -> Iterator[tuple[int, int]]:
    last = code.co_firstlineno
    for start, _, line in code.co_lines():
        last = line if line is not None else last
        yield start, last
