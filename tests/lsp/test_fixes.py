"""Code actions: the edits of ``check --fix``, near names, comments that keep a rule quiet."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from tests.lsp.editor import Editor, editing

TEXT = """\
'😀':
  pkg.installed:
a:
  file.managed:
    - name: '😀'
    - mode: 0644{blanks}
    - requires:
      - pkg: b
""".format(blanks="  ")


def offered(editor: Editor, line: int, only: list[str] | None = None) -> dict[str, types.CodeAction]:
    params = types.CodeActionParams(
        editor.document("a.sls"),
        types.Range(types.Position(line, 0), types.Position(line, 100)),
        types.CodeActionContext(editor.diagnostics("a.sls"), only),
    )
    return {one.title: one for one in editor.ask("textDocument/codeAction", params)}


def mended(text: str, action: types.CodeAction) -> str:
    """The text after the action, for a client that counts in UTF-16."""
    assert action.edit and action.edit.changes
    (edits,) = action.edit.changes.values()
    lines = [line.encode("utf-16-le") for line in text.split("\n")]
    for edit in sorted(
        edits, key=lambda one: (one.range.start.line, one.range.start.character), reverse=True
    ):
        start, end = edit.range.start, edit.range.end
        assert start.line == end.line
        line = lines[start.line]
        lines[start.line] = (
            line[: start.character * 2] + str(edit.new_text).encode("utf-16-le") + line[end.character * 2 :]
        )
    return "\n".join(line.decode("utf-16-le") for line in lines)


def test_an_edit_of_fix_is_offered_at_its_line(shared: Editor, tmp_path: Path) -> None:
    editor = shared.enter(tmp_path, {"top.sls": "", "a.sls": TEXT})
    editor.open("a.sls")
    actions = offered(editor, 5, ["quickfix"])
    quoted = next(one for title, one in actions.items() if "unquoted-octal]" in title)
    assert quoted.is_preferred
    assert "- mode: '0644'  \n" in mended(TEXT, quoted)
    assert [one.code for one in quoted.diagnostics or []] == ["unquoted-octal"]


def test_all_edits_are_offered_at_once(shared: Editor, tmp_path: Path) -> None:
    editor = shared.enter(tmp_path, {"top.sls": "", "a.sls": TEXT})
    editor.open("a.sls")
    (action,) = offered(editor, 0, ["source.fixAll"]).values()
    after = mended(TEXT, action)
    assert "pkg.installed: []\n" in after
    assert "mode: '0644'\n" in after


def test_a_near_name_is_offered(shared: Editor, tmp_path: Path) -> None:
    editor = shared.enter(tmp_path, {"top.sls": "", "a.sls": TEXT})
    editor.open("a.sls")
    action = offered(editor, 6)["Write 'require'"]
    assert "    - require:\n" in mended(TEXT, action)


def test_a_rule_can_be_kept_quiet_by_a_comment(shared: Editor, tmp_path: Path) -> None:
    editor = shared.enter(tmp_path, {"top.sls": "", "a.sls": TEXT})
    editor.open("a.sls")
    after = mended(TEXT, offered(editor, 6)["Ignore argument-unknown on this line"])
    assert "    - requires:  # saltern: ignore argument-unknown\n" in after
    editor.rewrite("a.sls", after)
    assert "argument-unknown" not in editor.codes("a.sls")


def test_nothing_is_offered_for_a_text_that_was_not_checked_yet(shared: Editor, tmp_path: Path) -> None:
    editor = shared.enter(tmp_path, {"top.sls": "", "a.sls": TEXT})
    editor.open("a.sls")
    found = editor.diagnostics("a.sls")
    editor.rewrite("a.sls", f"\n\n{TEXT}")
    everything = types.Range(types.Position(0, 0), types.Position(20, 0))
    context = types.CodeActionContext(found)
    params = types.CodeActionParams(editor.document("a.sls"), everything, context)
    assert editor.ask("textDocument/codeAction", params) == ()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-32"])
def test_other_encodings_of_positions_are_agreed_on(tmp_path: Path, encoding: str) -> None:
    """The end of the wide key is where the client counts it to be."""
    with editing(tmp_path, {"top.sls": "", "a.sls": "'😀😀': 1\n"}, encodings=(encoding,)) as editor:
        assert editor.capabilities.position_encoding == encoding
        editor.open("a.sls")
        (told,) = editor.diagnostics("a.sls")
        width = {"utf-8": len("'😀😀': 1".encode()), "utf-32": len("'😀😀': 1")}[encoding]
        assert told.range.end.character == width
