"""What an editor is shown of a tree with secrets: the files, and no value that the pillar put into them."""

from __future__ import annotations

import secrets
from pathlib import Path

from tests.e2e.test_no_log_canary import WRONG
from tests.lsp.editor import editing

PAGES = {f"p{at}": text for at, text in enumerate(WRONG.values())}
HIDDEN = """\
relative/WORD:
  file.managed: [{no_log: true}, {source: WORD}]
a:
  cmd.run: [{name: echo}, {timeot: WORD}, {retry: WORD}, {no_log: true}]
b:
  cmd.run: [{name: echo WORD}, {no_log: true}, {require: [{file: WORD}]}]
c:
  nosuch.WORD: [{no_log: true}]
"""


def test_no_diagnostic_quotes_a_value_of_the_pillar(tmp_path: Path) -> None:
    secret = "s" + secrets.token_hex(6)
    pages = {**PAGES, "hidden": HIDDEN}
    files = {f"states/{name}.sls": text.replace("WORD", "{{ pillar.word }}") for name, text in pages.items()}
    top = "base:\n  '*': [data]\n"
    with editing(
        tmp_path,
        {
            **files,
            "pillar/top.sls": top,
            "pillar/data.sls": f"word: {secret}\n",
            "states/top.sls": "base: {}\n",
        },
    ) as editor:
        for name in files:
            editor.open(name)
            found = editor.diagnostics(name, bool)
            assert [one.message for one in found if secret in str(one)] == [], name
        assert secret not in " ".join(editor.messages)
