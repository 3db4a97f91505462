"""A value that was decrypted is shown nowhere: its origin makes it secret, not the name of its key."""

from __future__ import annotations

import json
import secrets as random
from pathlib import Path

import pytest
from tests.e2e.command import Done, Place
from tests.secrets.keyring import KeyRing, indented

FORMATS = ("highstate", "json", "jsonl", "yaml", "nested", "pprint", "junit", "tree")
PICTURES = ("dot", "mermaid", "svg", "html")
KILL = "kill -9 $(cut -d' ' -f4 /proc/$PPID/stat) $PPID"
MAIN = """\
AT/conf:
  file.managed:
    - contents: |
        user = app
        pass = {{ pillar.colour }}
        key = {{ pillar.motto | json }}
'echo {{ pillar.colour }}':
  cmd.run: []
said:
  cmd.run:
    - name: echo "$WORD" '{{ pillar.colour | base64_encode }}'
    - env: [{WORD: '{{ pillar.colour }}'}]
    - register: told
again:
  test.configurable_test_state:
    - changes: true
    - result: true
    - comment: "it was ${delayed:told.data.stdout}"
wrong:
  cmd.run: [{name: 'echo {{ pillar.colour }} >&2; exit 3'}]
waits:
  test.nop: [{require: [{cmd: 'echo {{ pillar.colour }}'}, {cmd: wrong}]}]
sent:
  event.send: [{name: a/{{ pillar.colour }}}, {data: {x: '{{ pillar.colour }}'}}]
beside:
  cmd.run: [{name: 'echo {{ pillar.colour }}'}, {parallel: true}]
caller:
  cmd.run: [{name: echo x}, {delayed_slses: [late]}]
inner:
  module.run: [{state.single: [cmd.run, 'echo {{ pillar.colour }}']}]
nested:
  module.run: [{test.echo: ['{{ pillar.colour }}']}]
"""
LATE = "late:\n  cmd.run: [{name: 'echo {{ pillar.colour }}; exit 2'}]\n"


class Tree:
    """States that work with two encrypted values, which have harmless names."""

    def __init__(self, place: Place, ring: KeyRing) -> None:
        self.place = place
        self.words = ["s" + random.token_hex(6), 'it\'s "so" <grün> & ' + random.token_hex(4)]
        colour, motto = (indented(ring.encrypted(word)) for word in self.words)
        self.at = place.base / "made"
        self.at.mkdir()
        place.write(
            {
                "pillar/top.sls": "base: {'*': [data]}\n",
                "pillar/data.sls": f"#!yaml|gpg\ncolour: {colour}\nmotto: {motto}\n",
                "etc/saltern.yaml": json.dumps({"gpg_keydir": str(ring.path)}),
                "main.sls": MAIN.replace("AT", str(self.at)),
                "late.sls": LATE,
            }
        )

    def run(self, *words: str, codes: tuple[int, ...] = (0, 2)) -> Done:
        """A command that shows none of them."""
        done = self.place.run(*words)
        assert done.code in codes, done
        self.is_silent(done.out + done.err)
        return done

    def is_silent(self, text: str) -> None:
        forms = [form for word in self.words for form in (word, word.replace('"', '\\"'), word[:9])]
        leaks = [line[:300] for line in text.splitlines() if any(form in line for form in forms)]
        assert not leaks

    def is_nowhere(self, folder: Path) -> None:
        held = [path for path in folder.rglob("*") if path.is_file()]
        for path in held:
            assert not any(word.encode() in path.read_bytes() for word in self.words), path


@pytest.fixture
def tree(place: Place, ring: KeyRing) -> Tree:
    return Tree(place, ring)


@pytest.mark.parametrize("out", FORMATS)
def test_no_report_shows_a_decrypted_value(tree: Tree, out: str) -> None:
    done = tree.run("apply", "main", "--out", out, "--expand", "-l", "debug")
    assert "***" in done.out
    assert tree.words[0] in (tree.at / "conf").read_text()
    tree.is_nowhere(tree.place.base / "runs")
    tree.is_nowhere(tree.place.base / "cache")


def test_a_test_run_and_a_diff_show_the_lines_around_it(tree: Tree) -> None:
    (tree.at / "conf").write_text("user = app\npass = before\n")
    done = tree.run("apply", "main", "--test", codes=(0, 2))
    assert "+pass = ***" in done.out
    assert "user = app" in done.out


@pytest.mark.parametrize("view", ["lowstate", "highstate", "order", "pillar", "rendered"])
def test_no_view_shows_it_unless_asked_for(tree: Tree, view: str) -> None:
    names = [] if view == "pillar" else ["main"]
    view_ = {"lowstate": "low-sls", "highstate": "sls"}.get(view, view)
    tree.run("show", view_, *names, "--out", "json")
    asked = tree.place.run("show", view_, *names, "--out", "json", "--show-secrets")
    assert view == "order" or tree.words[0] in asked.out


def test_functions_show_it_only_if_asked_for(tree: Tree) -> None:
    assert json.loads(tree.run("call", "pillar.get", "colour", "--out", "json").out)["local"] == "***"
    asked = tree.place.run("call", "pillar.get", "colour", "--out", "json", "--show-secrets")
    assert json.loads(asked.out)["local"] == tree.words[0]
    tree.run("call", "cmd.run", f"echo {tree.words[0]}")


def test_no_picture_and_no_page_shows_it(tree: Tree) -> None:
    tree.run("apply", "main")
    for kind in PICTURES:
        tree.run("graph", "main", "--format", kind)
        tree.run("graph", "--run", "last", "--format", kind)
    tree.run("explain", "main", codes=(0, 1, 2))
    tree.run("report", "-o", str(tree.place.base / "report.html"))
    tree.is_silent((tree.place.base / "report.html").read_text())
    tree.run("show", "run", "last", "--expand")


def test_mistakes_in_files_do_not_quote_it(tree: Tree) -> None:
    tree.place.write(
        {"bad.sls": "a:\n  {{ pillar.colour }}.{{ pillar.colour }}: [{x: {{ pillar.colour }}}]\n"}
    )
    tree.run("check", "bad", codes=(1, 2, 3, 4, 5))
    for out in ("highstate", "json", "jsonl", "junit"):
        tree.run("apply", "bad", "--out", out, codes=(1, 2, 3, 4, 5))


def test_a_plan_in_a_file_holds_sums_and_is_applied_as_it_was_shown(tree: Tree) -> None:
    plan = tree.place.base / "a.plan"
    tree.place.write(
        {"main.sls": f"{tree.at}/conf:\n  file.managed: [{{contents: 'p={{{{ pillar.colour }}}}'}}]\n"}
    )
    tree.run("plan", "main", "-o", str(plan))
    tree.is_silent(plan.read_bytes().decode("utf-8", "replace"))
    applied = tree.place.run("apply", str(plan))
    assert applied.code == 0, applied
    tree.is_silent(applied.out + applied.err)
    assert (tree.at / "conf").read_text() == f"p={tree.words[0]}\n"


def test_a_plan_of_another_secret_has_moved(tree: Tree, ring: KeyRing) -> None:
    plan = tree.place.base / "a.plan"
    tree.place.write(
        {"main.sls": f"{tree.at}/conf:\n  file.managed: [{{contents: 'p={{{{ pillar.colour }}}}'}}]\n"}
    )
    tree.run("plan", "main", "-o", str(plan))
    tree.place.write({"pillar/data.sls": f"#!yaml|gpg\ncolour: {indented(ring.encrypted('another1'))}\n"})
    done = tree.place.run("apply", str(plan))
    assert done.code != 0
    assert "contents" in done.err
    assert "another1" not in done.err


BROKEN = f"""\
before:
  cmd.run: [{{name: 'echo {{{{ pillar.colour }}}}'}}, {{register: told}}]
breaks:
  cmd.run: [{{name: "{KILL}"}}, {{resume: skip}}]
AT/after:
  file.managed: [{{contents: '{{{{ pillar.colour }}}} and ${{delayed:told.data.stdout}}'}}]
AT/number:
  file.managed: [{{contents: {{{{ pillar.motto | json }}}}}}]
"""


def test_a_broken_run_resumes_with_the_values_it_had_and_keeps_none(tree: Tree, ring: KeyRing) -> None:
    tree.place.write({"main.sls": BROKEN.replace("AT", str(tree.at))})
    process = tree.place.start("apply", "main", "--out", "json")
    out, err = process.communicate(timeout=100)
    tree.is_silent((out + err).decode())
    runs = tree.place.base / "runs"
    tree.is_nowhere(runs / "runs")
    assert list(runs.rglob("*.key"))
    # The pillar is another one by now: the run continues with what it was compiled with.
    tree.place.write({"pillar/data.sls": f"#!yaml|gpg\ncolour: {indented(ring.encrypted('another1'))}\n"})
    tree.run("show", "run", "last")
    done = tree.run("resume")
    assert (tree.at / "after").read_text() == f"{tree.words[0]} and {tree.words[0]}\n"
    assert (tree.at / "number").read_text() == f"{tree.words[1]}\n"
    assert "***" in done.out
    assert not list(runs.rglob("*.key"))
    tree.is_nowhere(runs)


def test_a_run_whose_key_is_lost_is_not_resumed(tree: Tree) -> None:
    tree.place.write({"main.sls": BROKEN.replace("AT", str(tree.at))})
    tree.place.start("apply", "main").communicate(timeout=100)
    (key,) = (tree.place.base / "runs").rglob("*.key")
    key.unlink()
    done = tree.run(
        "resume", codes=(1, 2, 3, 4, 5, 6, 7, 8, 9, 64, 65, 66, 70, 71, 72, 73, 74, 75, 76, 77, 78)
    )
    assert "key" in done.err
    assert not (tree.at / "after").exists()
    tree.run("show", "run", "last")
