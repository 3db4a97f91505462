"""Whatever is typed, the server has the same text as the editor, and goes on answering."""

from __future__ import annotations

import string
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsprotocol import types
from tests.lsp.editor import Editor

from saltern.lsp.cursor import at
from saltern.lsp.nodes import page_of
from saltern.lsp.outline import outline
from saltern.lsp.positions import Lines, edit_text

PIECES = [
    *("\n", "\r\n", "\r", "\u2028", "\x0b", "\x0c", "\x85", "😀", "é", "\ufeff", "\t", "  ", "- ", ": ", ":"),
    *(
        "'",
        '"',
        "[",
        "]",
        "{",
        "}",
        "|\n",
        "{{ ",
        " }}",
        "{% if x %}",
        "{% endif %}",
        "# c",
        "include:\n  - a",
    ),
    *("#!delayed_block a", "#!end_delayed_block", "salt['", "salt://", "${delayed:"),
    "a:\n  pkg.installed:\n    - require:\n      - pkg: b\n",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(string.ascii_lowercase, max_size=3), max_size=12).map(
    "".join
)
PLACES = st.tuples(st.integers(0, 12), st.integers(0, 40))
CHANGES = st.lists(st.tuples(PLACES, PLACES, TEXTS), min_size=1, max_size=4)

CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine


def applied(text: str, start: tuple[int, int], end: tuple[int, int], new: str) -> str:
    """As an editor would: bytes of UTF-16, line by line, written in another way than the server's."""
    ends = ("\r\n", "\n", "\r")
    rows: list[str] = []
    left = text
    while True:
        places = [(left.find(one), -len(one), one) for one in ends if one in left]
        if not places:
            break
        at, _, one = min(places)
        rows.append(left[: at + len(one)])
        left = left[at + len(one) :]
    rows.append(left)

    def place(line: int, character: int) -> int:
        if line >= len(rows):
            return len(text)
        row = rows[line].rstrip("\r\n")
        units = row.encode("utf-16-le")[: character * 2]
        return sum(map(len, rows[:line])) + len(units.decode("utf-16-le"))

    return text[: place(*start)] + new + text[place(*end) :]


def legal(text: str, place: tuple[int, int]) -> tuple[int, int]:
    """No editor puts a position between the two halves of a character."""
    lines = Lines(text)
    return lines.position(lines.offset(*place))


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(first=TEXTS, changes=CHANGES)
def test_the_text_is_the_same_after_any_edits(
    shared: Editor, tmp_path: Path, first: str, changes: list[tuple[tuple[int, int], tuple[int, int], str]]
) -> None:
    editor = shared.enter(tmp_path, {"a.sls": ""})
    text = editor.open("a.sls", first)
    told: list[types.TextDocumentContentChangeEvent] = []
    for one, other, new in changes:
        start, end = sorted((legal(text, one), legal(text, other)))
        told.append(
            types.TextDocumentContentChangePartial(
                types.Range(types.Position(*start), types.Position(*end)), new
            )
        )
        text = applied(text, start, end, new)
    editor.change("a.sls", *told)
    assert editor.text("a.sls") == text
    place = types.Position(*Lines(text).position(len(text)))
    document = editor.document("a.sls")
    editor.ask("textDocument/completion", types.CompletionParams(document, place))
    editor.ask("textDocument/hover", types.HoverParams(document, place))
    editor.ask("textDocument/definition", types.DefinitionParams(document, place))
    editor.ask("textDocument/documentSymbol", types.DocumentSymbolParams(document))
    editor.shut("a.sls")


@CALM
@given(text=TEXTS, place=PLACES)
def test_places_and_positions_lead_to_each_other(text: str, place: tuple[int, int]) -> None:
    for encoding in ("utf-8", "utf-16", "utf-32"):
        lines = Lines(text, encoding)
        offset = lines.offset(*place)
        assert 0 <= offset <= len(text)
        assert lines.offset(*lines.position(offset)) == offset
        assert edit_text(lines, place, place, "") == text


@CALM
@given(text=TEXTS, place=st.integers(0, 60))
def test_any_text_has_an_outline_and_any_place_a_cursor(text: str, place: int) -> None:
    page = page_of(text, "/a.sls", "jinja|yaml")
    known = outline(page)
    for one in known.references:
        assert text[one.span.start : one.span.end] == one.name
    for declared in known.declared:
        assert text[declared.id.span.start : declared.id.span.end] == declared.id.text
    cursor = at(page, min(place, len(text)))
    assert 0 <= cursor.span.start <= cursor.span.end <= len(text)
