"""The data for a response to the editor, and the form of a suggestion."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from saltern.lsp.cursor import Cursor
from saltern.lsp.index import Index
from saltern.lsp.manual import Manual
from saltern.lsp.outline import Outline
from saltern.lsp.positions import Span
from saltern.lsp.sites import Site


class Suggestion(Struct, frozen=True, kw_only=True):
    """``text`` replaces ``span``. ``doc`` is Markdown; ``about`` names what to look up for it."""

    label: str
    kind: str
    text: str
    span: Span
    detail: str = ""
    doc: str = ""
    about: str = ""  # states:NAME or functions:NAME
    rank: int = 5
    order: int = 0  # order among suggestions of one rank


class Desk(Struct, frozen=True, kw_only=True):
    """The file, its tree and the data about them, for one response."""

    site: Site
    manual: Manual
    index: Index
    path: str
    outline: Outline

    @property
    def env(self) -> str:
        return self.site.env(self.path)


Found = Iterator[Suggestion]


def make_suggestion(cursor: Cursor, label: str, kind: str, *, tail: str = "", **more: object) -> Suggestion:
    """A suggestion with ``tail`` after its label, unless the text has it already."""
    text = label if not tail or cursor.after.lstrip().startswith(tail.strip()) else label + tail
    given = {"text": text, "span": cursor.span, **more}
    return Suggestion(label=label, kind=kind, **given)  # type: ignore[arg-type]


def function_of(known: Outline, path: tuple[str, ...], manual: Manual) -> str:
    """The full name of the function whose arguments are below ``path``; below ``pkg``, it is an item."""
    if len(path) < 2 or "." in path[1]:
        return path[1] if len(path) > 1 else ""
    members = set(manual.members("states", path[1]))
    for node in known.nodes:
        below = node.path[-2:] == path[:2] and node.item and not node.key
        if below and node.value and node.value.text in members:
            return f"{path[1]}.{node.value.text}"
    return path[1]
