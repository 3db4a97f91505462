"""Hover tells what a word means; definitions and references lead through the tree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lsprotocol import types
from tests.lsp.editor import Editor, editing

PAGE = "states/web/init.sls"
WEB = """\
{% from 'web/map.jinja' import port %}
{% import './other.jinja' as other %}
include:
  - db
  - .tls

nginx:
  pkg.installed: []

/etc/nginx.conf:
  file.managed:
    - source: salt://web/nginx.conf
    - mode: 0644  # saltern: ignore unquoted-octal
    - context:
        port: {{ salt['pillar.get']('port', port) }}
    - require:
      - pkg: nginx
      - pkg: postgresql-15
      - sls: db
      - id: certificate
    - register: conf
    - delayed_render:
      - block: after
      - sls: far

late:
  test.nop:
    - text: ${delayed:conf.data.path}
  file:
    - absent
    - name: /x

#!delayed_block after
nginx:
  test.nop:
    - require:
      - test: inner
inner:
  test.nop: []
#!end_delayed_block after
"""
TREE = {
    "states/top.sls": "base:\n  '*':\n    - web\n",
    PAGE: WEB,
    "states/web/tls.sls": "certificate:\n  file.managed:\n    - name: /tls\n",
    "states/web/map.jinja": "{% set port = 80 %}",
    "states/web/other.jinja": "",
    "states/web/nginx.conf": "x",
    "states/db/init.sls": "# the data\n\npostgres:\n  pkg.installed:\n    - name: postgresql-15\n",
    "states/far.sls": """\
extend:
  nginx:
    pkg:
      - require:
        - pkg: postgres
include: [web, db]
""",
}

LEADS = [
    ("- pkg: ngi|nx", [f"{PAGE}:7"]),
    ("- pkg: postgresql-|15", ["states/db/init.sls:3"]),
    ("- sls: d|b", ["states/db/init.sls:1"]),
    ("- id: certi|ficate", ["states/web/tls.sls:1"]),
    ("  - d|b\n", ["states/db/init.sls:1"]),
    ("  - .tl|s\n", ["states/web/tls.sls:1"]),
    ("salt://web/nginx.co|nf", ["states/web/nginx.conf:1"]),
    ("'web/map.ji|nja'", ["states/web/map.jinja:1"]),
    ("'./other.ji|nja'", ["states/web/other.jinja:1"]),
    ("- block: af|ter", [f"{PAGE}:33"]),
    ("#!end_delayed_block after|", []),
    ("- sls: fa|r", ["states/far.sls:1"]),
    ("${delayed:co|nf", [f"{PAGE}:21"]),
    ("- test: inn|er", [f"{PAGE}:38"]),
    ("/etc/nginx|.conf:", [f"{PAGE}:10"]),
    ("- mode: 06|44", []),
]

NOTES = [
    ("file.mana|ged", ["Manage a file", "`source: str"]),
    ("- sour|ce", ["source: str", "file.managed"]),
    ("    - requi|re:\n      - pkg", ["requisite", "after its targets"]),
    ("    - register|:", ["Keep its return"]),
    ("salt['pillar.g|et']", ["pillar.get"]),
    ("ignore unquoted-oc|tal", ["unquoted-octal"]),
    ("- pkg: postgresql-|15", ["pkg.installed postgres", "db/init.sls"]),
    ("    - abs|ent", ["file.absent"]),
    ("  fi|le:\n    - absent", ["file.absent"]),
    ("- pk|g: nginx", ["package"]),
    ("ngin|x:\n  pkg", []),
]


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    with editing(tmp_path_factory.mktemp("looking"), TREE) as made:
        made.open(PAGE)
        yield made


@pytest.mark.parametrize(("where", "wanted"), LEADS, ids=[one[0] for one in LEADS])
def test_a_name_leads_to_where_it_is_written(editor: Editor, where: str, wanted: list[str]) -> None:
    assert editor.lead(PAGE, WEB, where) == wanted


@pytest.mark.parametrize(("where", "wanted"), NOTES, ids=[one[0] for one in NOTES])
def test_a_word_is_explained(editor: Editor, where: str, wanted: list[str]) -> None:
    said = editor.hover(PAGE, WEB, where)
    assert all(text in said for text in wanted), said
    assert bool(said) == bool(wanted)


def test_a_problem_is_explained_where_it_is_shown(shared: Editor, tmp_path: Path) -> None:
    text = "a:\n  test.nop:\n    - require:\n      - pkg: nothing\n"
    shared.enter(tmp_path, {"top.sls": "", "a.sls": text}).open("a.sls")
    assert shared.codes("a.sls") == ["requisite-unknown"]
    assert "**requisite-unknown**" in shared.hover("a.sls", text, "nothi|ng")


def test_everything_that_names_a_state_is_found(editor: Editor) -> None:
    def asked(where: str, declaration: bool = True) -> list[str]:
        context = types.ReferenceContext(declaration)
        params = types.ReferenceParams(**editor.at(PAGE, WEB, where), context=context)
        return editor.places(editor.ask("textDocument/references", params))

    assert asked("\nngi|nx:\n  pkg") == [f"{PAGE}:7", "states/far.sls:2", f"{PAGE}:17"]
    assert asked("- sls: d|b", declaration=False) == ["states/far.sls:6", f"{PAGE}:4", f"{PAGE}:19"]
    assert asked("block aft|er\nnginx") == [f"{PAGE}:33", f"{PAGE}:23"]
    assert asked("- mode: 06|44") == []


def test_a_top_file_leads_to_its_files(editor: Editor) -> None:
    text = editor.open("states/top.sls")
    assert editor.lead("states/top.sls", text, "- we|b") == [f"{PAGE}:1"]


def test_the_symbols_of_a_file_are_its_ids_and_blocks(editor: Editor) -> None:
    params = types.DocumentSymbolParams(editor.document(PAGE))
    found: list[types.DocumentSymbol] = editor.ask("textDocument/documentSymbol", params)
    assert [one.name for one in found] == ["nginx", "/etc/nginx.conf", "late", "after"]
    assert [one.name for one in found[2].children or []] == ["test.nop", "file"]
    assert [one.name for one in found[3].children or []] == ["nginx", "inner"]
    assert (found[1].range.start.line, found[1].range.end.line) == (9, 23)


def test_the_symbols_of_all_files_are_searched(editor: Editor) -> None:
    found = editor.ask("workspace/symbol", types.WorkspaceSymbolParams("POST"))
    assert [(one.name, one.container_name) for one in found] == [("postgres", "db")]
    assert editor.places([one.location for one in found]) == ["states/db/init.sls:3"]
