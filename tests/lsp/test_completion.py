"""Completion offers what may be written at the cursor, also in files that are only half there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lsprotocol import types
from tests.lsp.editor import Editor, editing

PAGE = "states/web/init.sls"
TREE = {
    "states/top.sls": "base:\n  '*':\n    - web\n",
    "states/db/init.sls": "postgres:\n  pkg.installed:\n    - name: postgresql-15\n",
    "states/far.sls": "chrony:\n  service.running: []\n",
    "states/web/nginx.conf": "x",
    "states/web/map.jinja": "{% set port = 80 %}",
    "states/_states/cloud.py": "def present(name, size=1, **kwargs):\n    '''Make a machine.'''\n",
    "states/_modules/cloud.py": "def sizes(provider):\n    '''All sizes.'''\n",
    PAGE: "",
}
STATE = """\
include:
  - db

nginx:
  pkg.installed: []

conf:
  file.managed:
    - name: /etc/nginx.conf
    - require:
      - pkg: nginx
    - delayed_render:
      - block: after
        when: always

#!delayed_block after
inner:
  test.nop: []
#!end_delayed_block after
"""

NOP = f"{STATE}x:\n  test.nop:\n"

# What stands before the cursor, below STATE or alone; what must be offered, and what not.
CASES = [
    ("", "inc|", ["include", "extend", "exclude"], ["pkg"]),
    (STATE, "x:\n  pk|", ["pkg", "file", "cloud"], ["include"]),
    (STATE, "x:\n  pkg.|", ["pkg.installed", "pkg.latest"], ["pkg"]),
    (STATE, "x:\n  cloud.|", ["cloud.present"], []),
    (STATE, "x:\n  cloud.present:\n    - |", ["name", "size", "require"], []),
    (STATE, "x:\n  file.managed:\n    - |", ["name", "contents", "require", "onlyif"], ["pkg"]),
    (STATE, "x:\n  file:\n    - |", ["managed"], []),
    (STATE, "x:\n  file:\n    - managed\n    - sou|", ["source"], []),
    (STATE, "x:\n  file.managed:\n    - makedirs: |", ["true", "false"], []),
    (STATE, "x:\n  file.managed:\n    - source: salt://we|", ["web/nginx.conf"], []),
    (NOP, "    - require:\n      - |", ["pkg: nginx", "pkg: postgres", "sls", "id"], ["test: inner"]),
    (NOP, "    - require:\n      - pkg: |", ["nginx", "postgres", "postgresql-15"], ["chrony", "conf"]),
    (NOP, "    - require:\n      - service: |", ["chrony"], ["nginx"]),
    (NOP, "    - require:\n    - pkg: x\n    - watch_in:\n      - id: |", ["conf", "nginx", "chrony"], []),
    (NOP, "    - require:\n      - sls: |", ["db", "far"], ["web"]),
    (NOP, "    - delayed_render:\n      - |", ["block", "sls"], ["when"]),
    (NOP, "    - delayed_render:\n      - block: |", ["after"], []),
    (NOP, "    - delayed_render:\n      - block: after\n        when: |", ["success", "always"], []),
    (STATE, "#!|", ["#!delayed_block", "#!end_delayed_block"], []),
    (STATE, "#!end_delayed_block |", ["after"], []),
    ("", "include:\n  - |", ["db", "far"], ["web", "top"]),
    ("", "include:\n- |", ["db", "far"], []),
    ("include:\n  - db\n\n", "extend:\n  |", ["postgres", "chrony"], []),
    ("extend:\n  postgres:\n    pkg:\n", "      - |", ["installed", "require"], []),
    ("", "x:\n  test.nop:\n    - a: {{ salt['pk|", ["pkg", "cmd"], []),
    ("", "x:\n  test.nop:\n    - a: {{ salt['cmd.|", ["cmd.run"], []),
    ("", "{% set x = salt.cloud.|", ["cloud.sizes"], []),
    ("", "{{ grains['os|", ["os", "os_family"], []),
    ("", "{{ pillar['|", ["site"], ["site:port"]),
    ("", "{{ salt['pillar.get']('si|", ["site", "site:port"], []),
    ("", "{% from 'web/|", ["web/map.jinja"], []),
    ("", "{{ x | to|", ["tojson"], []),
    ("{% if grains['os'] == 'x' %}\n", "x:\n  pkg.|", ["pkg.installed"], []),
    ("", "x:\n  test.nop:\n    - text: |\n        - |", [], ["name"]),
]  # fmt: skip


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    folder = tmp_path_factory.mktemp("along")
    with editing(folder, TREE, "--pillar", "{site: {port: 80}}") as made:
        made.open(PAGE)
        made.diagnostics(PAGE)  # the keys of the pillar come with a check
        yield made


@pytest.mark.parametrize(("before", "typed", "wanted", "unwanted"), CASES, ids=[one[1] for one in CASES])
def test_what_may_follow_is_offered(
    editor: Editor, before: str, typed: str, wanted: list[str], unwanted: list[str]
) -> None:
    head, _, tail = typed.rpartition("|")
    text = before + head + tail
    editor.rewrite(PAGE, text)
    line = text.count("\n")
    place = types.Position(line, len(text) - text.rfind("\n") - 1)
    found = editor.ask("textDocument/completion", types.CompletionParams(editor.document(PAGE), place))
    labels = {one.label for one in found.items}
    assert set(wanted) <= labels
    assert not set(unwanted) & labels


def test_what_is_near_and_needed_comes_first(editor: Editor) -> None:
    text = f"{STATE}\nx:\n  service.running:\n    - wat:\n      - pkg: x\n    - require:\n      - id: \n"
    editor.rewrite(PAGE, text)
    offered = editor.complete(PAGE, text, "      - id: |\n")
    order = sorted(offered, key=lambda name: offered[name].sort_text or "")
    assert order.index("nginx") < order.index("postgres") < order.index("chrony")
    offered = editor.complete(PAGE, text, "    - wat|:")
    order = sorted(offered, key=lambda name: offered[name].sort_text or "")
    assert order.index("name") < order.index("enable") < order.index("watch") < order.index("onlyif")


def test_what_is_accepted_takes_the_place_of_what_was_typed(editor: Editor) -> None:
    text = "'é😀':\n  pkg.inst"
    editor.rewrite(PAGE, text)
    item = editor.complete(PAGE, text, "pkg.inst|")["pkg.installed"]
    assert item.text_edit == types.TextEdit(
        types.Range(types.Position(1, 2), types.Position(1, 10)), "pkg.installed:"
    )
    resolved = editor.ask("completionItem/resolve", item)
    assert "`pkgs" in resolved.documentation.value
    text = "x:\n  pkg.inst: []\n"
    editor.rewrite(PAGE, text)
    item = editor.complete(PAGE, text, "pkg.inst|")["pkg.installed"]
    assert isinstance(item.text_edit, types.TextEdit)
    assert item.text_edit.new_text == "pkg.installed"


def test_a_top_file_is_offered_the_names_of_files(editor: Editor, tmp_path: Path) -> None:
    text = "base:\n  '*':\n    - \n"
    editor.open("states/top.sls", text)
    assert {"db", "far", "web"} <= set(editor.complete("states/top.sls", text, "    - |"))
    editor.shut("states/top.sls")
