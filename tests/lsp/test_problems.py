"""Problems are told as ``saltern check`` tells them, of the text that the editor shows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from lsprotocol import types
from tests.lsp.editor import Editor, editing, write

TOP = "base:\n  '*':\n    - web\n    - db\n"
WEB = """\
include:
  - db

nginx:
  pkg.installed:

/etc/nginx.conf:
  file.managed:
    - mode: 0644
    - requires:
      - pkg: nginx
    - require:
      - pkg: ngnix
"""
TREE = {
    "states/top.sls": TOP,
    "states/web/init.sls": WEB,
    "states/db.sls": "postgres:\n  pkg.installed: []\n",
}
PAGE = "states/web/init.sls"


def lines(found: list[types.Diagnostic]) -> list[tuple[str, int]]:
    return [(str(one.code), one.range.start.line + 1) for one in found]


def test_an_opened_file_is_reported_what_check_tells(tmp_path: Path) -> None:
    with editing(tmp_path, TREE) as editor:
        editor.open(PAGE)
        told = editor.diagnostics(PAGE)
    run = subprocess.run(
        [sys.executable, "-m", "saltern", "check", "states", "--out", "json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    checked = [(one["code"], one["line"]) for one in json.loads(run.stdout)["problems"]]
    assert len(checked) >= 4
    assert lines(told) == checked
    assert {one.source for one in told} == {"saltern"}
    assert all(one.code_description and one.code_description.href.startswith("file:") for one in told)


def test_a_change_is_checked_before_it_is_saved(shared: Editor, tmp_path: Path) -> None:
    editor = shared.enter(tmp_path, TREE)
    editor.open(PAGE)
    assert "requisite-unknown" in editor.codes(PAGE)
    editor.rewrite(PAGE, "nginx:\n  pkg.installed: []\n")
    assert editor.codes(PAGE) == []
    editor.rewrite(PAGE, "nginx:\n  pkg.instaled: []\n")
    assert editor.codes(PAGE) == ["state-unknown"]
    assert (tmp_path / PAGE).read_text() == WEB


def test_the_last_of_many_quick_changes_is_what_is_reported(shared: Editor, tmp_path: Path) -> None:
    editor = shared.enter(tmp_path, TREE)
    editor.open(PAGE)
    for count in range(20):
        editor.rewrite(PAGE, "\n" * count + "x:\n  pkg.instaled: []\n")
    found = editor.diagnostics(PAGE, lambda some: lines(some) == [("state-unknown", 21)])
    assert [one.range.start.character for one in found] == [2]


def test_half_a_file_is_reported_as_such_and_nothing_breaks(shared: Editor, tmp_path: Path) -> None:
    editor = shared.enter(tmp_path, TREE)
    editor.open(PAGE)
    for text in (
        "a:\n  pkg.installed:\n    - na",
        "a: [",
        "a:\n  - {{ x",
        "a:\n\tb",
    ):
        editor.rewrite(PAGE, text)
        assert editor.diagnostics(PAGE), text
    editor.rewrite(PAGE, "")
    assert editor.codes(PAGE) == []


def test_the_line_of_a_problem_is_the_one_in_the_source(shared: Editor, tmp_path: Path) -> None:
    text = "{% for name in ['a', 'b'] %}\n{% set x = 1 %}\n{{ name }}:\n  pkg.instaled: []\n{% endfor %}\n"
    editor = shared.enter(tmp_path, {**TREE, PAGE: text})
    editor.open(PAGE)
    assert set(lines(editor.diagnostics(PAGE))) == {("state-unknown", 4)}


def test_saving_tells_about_files_that_depend_on_it(shared: Editor, tmp_path: Path) -> None:
    web = "include:\n  - db\n\nx:\n  test.nop:\n    - require:\n      - pkg: postgres\n"
    editor = shared.enter(tmp_path, {**TREE, PAGE: web})
    editor.open("states/db.sls")
    assert editor.codes("states/db.sls") == []
    editor.rewrite("states/db.sls", "mariadb:\n  pkg.installed: []\n")
    assert editor.codes("states/db.sls") == []
    editor.save("states/db.sls", "mariadb:\n  pkg.installed: []\n")
    assert lines(editor.diagnostics(PAGE)) == [("requisite-unknown", 7)]
    editor.rewrite("states/db.sls", "postgres:\n  pkg.installed: []\n")
    editor.save("states/db.sls", "postgres:\n  pkg.installed: []\n")
    assert editor.diagnostics(PAGE, lambda some: not some) == []


def test_a_change_by_another_program_is_noticed(shared: Editor, tmp_path: Path) -> None:
    web = "include:\n  - db\n\nx:\n  test.nop:\n    - require:\n      - pkg: postgres\n"
    editor = shared.enter(tmp_path, {**TREE, PAGE: web})
    editor.open(PAGE)
    assert editor.codes(PAGE) == []
    assert [one.method for some in editor.watched for one in some.registrations] == [
        "workspace/didChangeWatchedFiles"
    ]
    write(tmp_path, {"states/db.sls": ""})
    change = types.FileEvent(editor.uri("states/db.sls"), types.FileChangeType.Changed)
    editor.tell("workspace/didChangeWatchedFiles", types.DidChangeWatchedFilesParams([change]))
    editor.diagnostics(PAGE, lambda some: lines(some) == [("requisite-unknown", 7)])


def test_another_open_file_sees_what_is_not_saved(shared: Editor, tmp_path: Path) -> None:
    web = "include:\n  - db\n\nx:\n  test.nop:\n    - require:\n      - pkg: postgres\n"
    editor = shared.enter(tmp_path, {**TREE, PAGE: web})
    editor.open(PAGE)
    assert editor.codes(PAGE) == []
    editor.open("states/db.sls")
    editor.rewrite("states/db.sls", "mariadb:\n  pkg.installed: []\n")
    editor.diagnostics(PAGE, lambda some: lines(some) == [("requisite-unknown", 7)])


def test_closing_takes_back_what_was_reported(shared: Editor, tmp_path: Path) -> None:
    editor = shared.enter(tmp_path, TREE)
    editor.open(PAGE)
    assert editor.codes(PAGE)
    editor.forget(PAGE)
    editor.shut(PAGE)
    assert editor.diagnostics(PAGE) == []


def test_the_configuration_counts(tmp_path: Path) -> None:
    config = "file_roots: {base: [states]}\npillar_roots: {base: [pillar]}\n"
    config += "check: {rules: {unquoted-octal: error, requisite-unknown: off}}\n"
    tree = {
        **TREE,
        "saltern.yaml": config,
        "pillar/top.sls": "base:\n  '*':\n    - a\n",
        "pillar/a.sls": "a: 1\n",
    }
    with editing(tmp_path, tree, "--config", str(tmp_path / "saltern.yaml")) as editor:
        editor.open(PAGE)
        found = {str(one.code): one.severity for one in editor.diagnostics(PAGE)}
        assert found["unquoted-octal"] == types.DiagnosticSeverity.Error
        assert "requisite-unknown" not in found
        editor.open("pillar/a.sls")
        editor.rewrite("pillar/a.sls", "a: 1\nb: [\n")
        assert [code for code, _ in lines(editor.diagnostics("pillar/a.sls"))] == ["yaml-syntax"]


def test_a_template_may_not_act_unless_the_tree_is_trusted(tmp_path: Path) -> None:
    text = "{% set _ = salt['cmd.run']('touch " + str(tmp_path / "made") + "') %}\nx:\n  test.nop: []\n"
    with editing(tmp_path, {**TREE, PAGE: text}) as editor:
        editor.open(PAGE)
        (told,) = editor.diagnostics(PAGE)
        assert (told.code, told.severity) == ("not-rendered", types.DiagnosticSeverity.Information)
        assert not (tmp_path / "made").exists()
    with editing(tmp_path, {}, "--trust") as editor:
        editor.open(PAGE)
        assert editor.codes(PAGE) == []
        assert (tmp_path / "made").exists()


def test_a_file_belongs_to_the_tree_around_it(tmp_path: Path) -> None:
    """Two trees with top files, a formula without one, and a file that is alone."""
    include = "include:\n  - {}\n\nx:\n  test.nop: []\n"
    tree = {
        "one/top.sls": "base:\n  '*':\n    - a\n",
        "one/a.sls": include.format("b"),
        "one/b.sls": "y:\n  test.nop: []\n",
        "two/states/web/a.sls": include.format("web.b"),
        "two/states/web/b.sls": "y:\n  test.nop: []\n",
        "nginx/init.sls": include.format("nginx.config"),
        "nginx/config.sls": "y:\n  test.nop: []\n",
    }
    alone = write(tmp_path / "elsewhere", {"alone.sls": "x:\n  pkg.instaled: []\n"}) / "alone.sls"
    folder = tmp_path / "folder"
    folder.mkdir()
    with editing(folder, tree) as editor:
        for name in ("one/a.sls", "two/states/web/a.sls", "nginx/init.sls"):
            editor.open(name)
            assert editor.codes(name) == [], name
        name = f"../{alone.relative_to(tmp_path)}"
        editor.open(name)
        assert editor.codes(name) == ["state-unknown"]


def test_a_configuration_and_a_pillar_are_found_beside_the_states(shared: Editor, tmp_path: Path) -> None:
    tree = {
        "states/top.sls": "base:\n  front:\n    - match: nodegroup\n    - a\n",
        "states/a.sls": "{{ pillar['owner'] }}:\n  test.nop: []\n",
        "pillar/top.sls": "base:\n  '*':\n    - a\n",
        "pillar/a.sls": "owner: ada\n",
        "saltern.yaml": "nodegroups: {front: web*}\n",
    }
    editor = shared.enter(tmp_path, tree)
    for name in ("states/top.sls", "states/a.sls", "pillar/a.sls"):
        editor.open(name)
        assert editor.codes(name) == [], name
    editor.rewrite("pillar/a.sls", "admin: ada\n")
    editor.diagnostics("states/a.sls", lambda some: lines(some) == [("template-undefined", 1)])
    editor.rewrite("pillar/a.sls", "admin: [\n")
    editor.shut("states/top.sls")
    editor.diagnostics("pillar/a.sls", lambda some: [one.code for one in some] == ["yaml-syntax"])


def test_a_pillar_that_is_wrong_is_reported_where_one_looks(shared: Editor, tmp_path: Path) -> None:
    tree = {**TREE, "pillar/top.sls": "base:\n  '*':\n    - a\n", "pillar/a.sls": "a: [\n"}
    editor = shared.enter(tmp_path, tree)
    editor.open(PAGE)
    (told,) = editor.diagnostics(PAGE)
    assert (told.code, told.range.start.line) == ("yaml-syntax", 0)
    assert "pillar/a.sls:" in told.message


def test_what_is_wrong_with_the_configuration_is_reported(tmp_path: Path) -> None:
    tree = {**TREE, "saltern.yaml": "check: {rules: {no-such-rule: off}}\n"}
    with editing(tmp_path, tree) as editor:
        editor.open(PAGE)
        assert editor.codes(PAGE) == ["check-rules"]
        write(tmp_path, {"saltern.yaml": "file_roots: 7\n"})
        editor.rewrite(PAGE, WEB + "\n")
        assert editor.codes(PAGE) == ["bad-option"]
        write(tmp_path, {"saltern.yaml": "check: {rules: {unquoted-octal: off}}\n"})
        editor.rewrite(PAGE, WEB)
        assert "unquoted-octal" not in editor.codes(PAGE)


def test_windows_line_ends_and_wide_characters_do_not_shift_a_problem(shared: Editor, tmp_path: Path) -> None:
    text = (
        "a:\r\n  test.nop:\r\n    - name: \"😀é\"\r\n'😀😀':\r\n  file.managed: [{mode: x}]\r\n  😀.y: []\r\n"
    )
    editor = shared.enter(tmp_path, {**TREE, PAGE: text})
    editor.open(PAGE)
    found = editor.diagnostics(PAGE)
    assert found
    for one in found:
        line = text.split("\r\n")[one.range.start.line].encode("utf-16-le")
        assert one.range.end.character * 2 <= len(line)


def test_a_file_of_a_megabyte_is_answered(shared: Editor, tmp_path: Path) -> None:
    text = (
        "".join(f"state {at}:\n  test.nop:\n    - name: n{at}\n" for at in range(25_000))
        + "x:\n  pkg.instaled: []\n"
    )
    assert len(text) > 1_000_000
    editor = shared.enter(tmp_path, {**TREE, PAGE: text})
    editor.open(PAGE)
    assert editor.hover(PAGE, text, "pkg.inst|aled") == ""
    editor.shut(PAGE)


def test_an_unnamed_buffer_is_no_problem(shared: Editor, tmp_path: Path) -> None:
    editor = shared.enter(tmp_path, TREE)
    item = types.TextDocumentItem("untitled:Untitled-1", "sls", 1, "x:\n  pkg.")
    editor.tell("textDocument/didOpen", types.DidOpenTextDocumentParams(item))
    params = types.CompletionParams(types.TextDocumentIdentifier(item.uri), types.Position(1, 6))
    found = editor.ask("textDocument/completion", params)
    assert "pkg.installed" in [one.label for one in found.items]
    assert answers(editor)


def answers(editor: Editor) -> bool:
    """The server is still there."""
    found = editor.ask("workspace/symbol", types.WorkspaceSymbolParams("postgres"))
    return found is None or isinstance(found, list)


def test_a_file_that_was_never_saved_is_checked(shared: Editor, tmp_path: Path) -> None:
    editor = shared.enter(tmp_path, TREE)
    editor.open("states/new.sls", "x:\n  pkg.instaled: []\n")
    assert editor.codes("states/new.sls") == ["state-unknown"]
    editor.rewrite("states/new.sls", "include:\n  - db\n\nx:\n  pkg.installed: []\n")
    assert editor.codes("states/new.sls") == []
    assert not (tmp_path / "states/new.sls").exists()


def test_a_file_that_was_never_saved_can_be_included(shared: Editor, tmp_path: Path) -> None:
    editor = shared.enter(tmp_path, {**TREE, PAGE: "include:\n  - new\n"})
    editor.open(PAGE)
    assert editor.codes(PAGE) == ["sls-not-found"]
    editor.open("states/new.sls", "x:\n  pkg.installed: []\n")
    editor.diagnostics(PAGE, lambda found: not found)


def test_a_buffer_without_a_name_is_checked(tmp_path: Path) -> None:
    with editing(tmp_path, TREE) as editor:
        item = types.TextDocumentItem("untitled:Untitled-1", "sls", 1, "x:\n  pkg.instaled: []\n")
        editor.tell("textDocument/didOpen", types.DidOpenTextDocumentParams(item))
        assert [str(one.code) for one in editor.diagnostics("untitled:Untitled-1")] == ["state-unknown"]
