"""``saltern fmt``: one layout, the same meaning."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import kit

from saltern.cli.fmt import layout
from saltern.cli.main import run
from saltern.lint.format import meaning
from saltern.render.yaml import read
from saltern.render.yaml_limits import YamlProblem

ROOT = Path(__file__).parent.parent.parent
UGLY = """\
{%set x=1%}
include:
- a


nginx:
    pkg:
        - installed
        - require:
            - pkg: y
    service.running:
      -   enable: true
# about conf
/etc/x:
 file.managed:
   - contents: |
        hello

          deeper
   - context:
        port: {{port}}
   - names:
     - a:
       - mode: '1'
{% for i in [1] %}
thing-{{i}}:
   test.nop: []
{% endfor %}
last: {test.nop: [x: y]}
"""
NEAT = """\
{% set x=1 %}
include:
  - a

nginx:
  pkg:
    - installed
    - require:
      - pkg: y
  service.running:
    - enable: true

# about conf
/etc/x:
  file.managed:
    - contents: |
         hello

           deeper
    - context:
        port: {{ port }}
    - names:
      - a:
        - mode: '1'

{% for i in [1] %}
thing-{{ i }}:
  test.nop: []
{% endfor %}

last: {test.nop: [x: y]}
"""


def test_a_file_gets_the_usual_layout() -> None:
    assert layout("x.sls", UGLY) == NEAT


@pytest.mark.parametrize(
    "text",
    [
        "",
        NEAT,
        "a: 1\nb: 2\n",
        "a:\n  b: |+\n    text\n\n\n\nc: 1\n",
        "a:\n  - b: 'x\n\n    y'\n",
    ],
)
def test_what_is_laid_out_stays(text: str) -> None:
    assert layout("x.sls", text) == text


@pytest.mark.parametrize(
    "text",
    [
        "a:\n\tb: 1\n",
        "a: [\n",
        "#!py\ndef run():\n      return {}\n",
        "{{ lines() }}\na:\n      b.c: []\n",
        "{% macro m() %}\n      - x: 1\n{% endmacro %}\na:\n      b.c:\n{{ m() }}\n",
        "a:\n      b.c:\n        - contents: |\n            {{ text | indent(12) }}\n",
        "a:\n{%- if x -%}\n      b: 1\n{% endif %}\n",
    ],
)
def test_what_could_mean_something_else_keeps_its_columns(text: str) -> None:
    def columns(one: str) -> list[int]:
        return [len(line) - len(line.lstrip()) for line in one.splitlines() if line.strip()]

    assert columns(layout("x.sls", text)) == columns(text)


TREES = sorted([*ROOT.glob("examples/**/*.sls"), *ROOT.glob("tests/formulas/**/*.sls")])


@pytest.mark.parametrize("path", TREES, ids=[str(path.relative_to(ROOT)) for path in TREES])
def test_files_of_real_trees_keep_their_meaning_and_settle_at_once(path: Path) -> None:
    text = path.read_text()
    once = layout(str(path), text)
    assert layout(str(path), once) == once
    assert meaning(once) == meaning(text)


words = st.sampled_from(
    ["a", "b c", "'q: #'", "{{ x }}", "|\n        text\n          more", "[1, 2]", "{k: v}", "1"]
)


@st.composite
def blocks(draw: st.DrawFn, column: int = 0, depth: int = 0) -> str:
    """Random YAML in random indentation."""
    lines: list[str] = []
    keys = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True))
    dashes = depth > 0 and draw(st.booleans())
    for key in keys:
        lead = " " * column + ("-" + " " * draw(st.integers(1, 3)) if dashes else "")
        if depth < 3 and draw(st.booleans()):
            inner = draw(blocks(column=len(lead) + draw(st.integers(1, 4)), depth=depth + 1))
            lines.append(f"{lead}{key}:{' ' * draw(st.integers(0, 2))}\n{inner}")
        else:
            word = draw(words)
            word = re.sub("^ {8}", " " * (len(lead) + 2), word, flags=re.MULTILINE)
            lines.append(f"{lead}{key}: {word}")
        lines += [""] * draw(st.integers(0, 2))
    return "\n".join(lines)


@given(blocks())
def test_any_yaml_means_the_same_afterwards(text: str) -> None:
    plain = text.replace("{{ x }}", "x")
    try:
        data = read(plain)
    except YamlProblem:
        return
    once = layout("x.sls", plain)
    assert read(once) == data
    assert layout("x.sls", once) == once


def test_the_states_of_a_file_are_the_same_afterwards() -> None:
    text = UGLY.replace("{{port}}", "{{ 80 }}").replace("include:\n- a\n", "")
    text = text.replace("            - pkg: y\n", "            - test: thing-1\n")
    assert kit.high({"main.sls": text}) == kit.high({"main.sls": layout("main.sls", text)})


def test_files_are_rewritten_named_or_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ugly, neat = tmp_path / "a" / "ugly.sls", tmp_path / "neat.sls"
    ugly.parent.mkdir()
    ugly.write_text("a:\n    b.c: []\n")
    neat.write_text("a:\n  b.c: []\n")
    assert run(["fmt", "--check", str(tmp_path)]) == 3
    assert capsys.readouterr().out == f"{ugly}\n"
    assert run(["fmt", "--diff", str(tmp_path)]) == 0
    assert "+  b.c: []" in capsys.readouterr().out
    assert ugly.read_text() == "a:\n    b.c: []\n"
    assert run(["fmt", str(tmp_path)]) == 0
    assert ugly.read_text() == neat.read_text()
    assert run(["fmt", "--check", str(tmp_path)]) == 0


def test_a_path_that_is_not_there_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fmt", "/nonexistent"]) == 1
    assert "there is no such file" in capsys.readouterr().err
