"""``no_log`` where a run is watched, broken, continued, driven by a chain or compared with the machine."""

from __future__ import annotations

import json
import os
import pty
import secrets
from pathlib import Path

import pytest
from tests.e2e.command import Done, Place
from tests.e2e.test_terminal import on_terminal

FORMATS = ("highstate", "json", "jsonl", "yaml", "nested", "pprint", "junit", "tree", "quiet")
PICTURES = ("dot", "mermaid", "svg", "html")
KILL = "kill -9 $(cut -d' ' -f4 /proc/$PPID/stat) $PPID"
INNER = """\
inner:
  cmd.run: [{name: 'echo WORD; echo WORD >&2; exit 3'}, {no_log: true}]
inner-file:
  file.managed: [{name: AT/inner}, {contents: 'WORD'}, {no_log: true}]
"""
MAIN = """\
nested:
  module.run:
    - state.apply: [inner]
single:
  module.run:
    - state.single: [cmd.run, echo WORD]
    - no_log: true
retried:
  cmd.run: [{name: echo WORD; exit 1}, {retry: {attempts: 2, interval: 0}}, {no_log: true}]
tagged:
  cmd.run: [{name: echo WORD}, {fire_event: a/WORD}, {no_log: true}]
sent:
  event.send: [{name: a/WORD}, {data: {x: WORD}}, {preload: {_WORD: 1}}, {no_log: true}]
by-function:
  module.run: [{event.fire: [{data: {x: WORD}}, {tag: tag/WORD}]}, {no_log: true}]
sent-beside:
  event.send: [{name: b/WORD}, {data: {x: WORD}}, {parallel: true}, {no_log: true}]
plainly:
  event.send: [{name: c/plain}, {data: {x: seen}}]
rehearsed:
  cmd.run: [{name: echo WORD}, {prereq: [{file: AT/plain}]}, {no_log: true}]
AT/plain:
  file.managed: [{contents: x}]
copied:
  cmd.run: [{name: echo b}, {use: [{cmd: tagged}]}]
caller:
  cmd.run: [{name: echo x}, {delayed_slses: [late]}]
steps:
  exec.lines: [{name: echo WORD}, {no_log: true}]
'echo WORD; false':
  cmd.run: [{no_log: true}]
rescued:
  test.nop: [{onfail: [{cmd: echo WORD; false}]}]
"""
LATE = "late:\n  cmd.run: [{name: echo WORD; exit 2}, {no_log: true}]\n"
BROKEN = f"""\
before:
  cmd.run: [{{name: echo WORD}}, {{no_log: true}}, {{register: said}}]
"true WORD; {KILL}":
  cmd.run: [{{no_log: true}}, {{resume: ask}}]
after:
  cmd.run: [{{name: echo WORD}}, {{no_log: true}}]
waits:
  test.nop: [{{require: [{{cmd: "true WORD; {KILL}"}}]}}]
"""


class Secret:
    """A tree that works with a word of the pillar, and what must not show it."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.word = "s" + secrets.token_hex(6)
        self.given = ["--pillar", f"{{word: {self.word}}}"]
        at = place.base / "made"
        at.mkdir()
        texts = {"main.sls": MAIN, "inner.sls": INNER, "late.sls": LATE, "broken.sls": BROKEN}
        for name, text in texts.items():
            place.write({name: text.replace("AT", str(at)).replace("WORD", "{{ pillar.word }}")})

    def run(self, *words: str, code: int | None = None) -> Done:
        done = self.place.run(*words)
        self.is_absent(done.out + done.err, *words)
        assert done.code not in (1, 70), done.err
        assert code is None or done.code == code, done.err
        return done

    def is_absent(self, text: str, *where: str) -> None:
        assert [line[:300] for line in text.splitlines() if self.word in line] == [], where


@pytest.fixture
def secret(place: Place) -> Secret:
    return Secret(place)


@pytest.mark.parametrize("more", [[], ["--test"], ["-l", "trace"]], ids=["apply", "test", "log"])
def test_events_of_hidden_states_say_that_they_were_sent_and_no_more(secret: Secret, more: list[str]) -> None:
    lines = secret.run("apply", "main", "--out", "jsonl", *more, *secret.given).out.splitlines()
    fired = [one for one in map(json.loads, lines) if one["event"] == "fired"]
    assert "salt/state_result/local/tagged/(no_log)" in {one["tag"] for one in fired}
    if "--test" not in more:
        hidden = [one["data"] for one in fired if one["tag"] == "(no_log)"]
        assert hidden == [{"hidden": "no_log"}] * 3
        assert {"x": "seen"} in [one["data"] for one in fired if one["tag"] == "c/plain"]


def test_no_format_shows_what_a_nested_late_or_repeated_state_works_with(secret: Secret) -> None:
    for out in (
        "highstate",
        "json",
        "tree",
    ):  # each in a way of its own: as it happens, from the report, nested
        secret.run("apply", "main", "--out", out, "--expand", "--profile", *secret.given, code=2)
    for out in FORMATS:
        secret.run("show", "run", "--out", out, "--expand")


def test_no_view_shows_it(secret: Secret) -> None:
    for view in ("plan", "drift", "show order", "show low-sls", "explain rescued", "explain copied"):
        for out in ([], ["--out", "json"]):
            secret.run(*view.split(), "main", *out, *secret.given)
    secret.run("drift", "--last", "--out", "json")
    secret.run("apply", "main", "--check-idempotent", *secret.given)
    secret.run("single", "cmd.run", f"echo {secret.word}; exit 1", "no_log=True", "--out", "json")
    kept = (secret.place.base / "runs").rglob("*")
    drifted = [path for path in kept if path.is_file() and "drift" in str(path)]
    assert drifted
    assert [path for path in drifted if secret.word.encode() in path.read_bytes()] == []


def test_the_view_of_a_run_at_a_terminal_does_not_show_it(secret: Secret) -> None:
    code, text = on_terminal(secret.place, "main", *secret.given)
    assert code == 2
    assert "cmd.run (no_log, order" in text
    secret.is_absent(text, "live")


def test_the_question_before_a_run_does_not_show_it(secret: Secret) -> None:
    text = _asked(secret, ["apply", "main", "--ask", *secret.given], "no\n")
    assert "(no_log" in text
    secret.is_absent(text, "--ask")


@pytest.mark.parametrize("answer", ["skip", "fail"])
def test_a_broken_run_its_views_and_the_question_how_to_resume_it(secret: Secret, answer: str) -> None:
    assert secret.place.run("apply", "broken", *secret.given).code == -9
    pictures = [["graph", "--run", "last", "--format", one] for one in PICTURES]
    formats = [[*what, "--out", one, "--expand"] for one in FORMATS for what in (["show", "run"], ["report"])]
    for words in (["runs"], ["runs", "--out", "json"], ["report", "--html"], *pictures, *formats):
        secret.run(*words)
    text = _asked(secret, ["resume"], f"{answer}\n")
    assert "was running when the run broke: rerun, skip or fail?" in text
    secret.is_absent(text, "resume")
    secret.run("runs", "--out", "json")
    secret.run("show", "run", "--out", "json", "--expand")


def test_a_chain_does_not_show_what_its_states_hide(secret: Secret) -> None:
    chain = secret.place.base / "chain.yaml"
    chain.write_text(
        "chain: c\nid: 1\nactions:\n"
        f"  - id: a\n    state: {{sls: inner, pillar: {{word: {secret.word}}}}}\n"
        f"  - id: b\n    state: {{sls: late, pillar: {{word: {secret.word}}}}}\n"
    )
    secret.run("chain", "run", str(chain), code=2)
    for words in (["run", str(chain)], ["status"], ["status", "last"], ["retry", "last"]):
        for more in ([], ["--out", "json"], ["-l", "trace"]):
            secret.run("chain", *words, *more)
    for out in FORMATS:
        secret.run("show", "run", "--out", out, "--expand")


def _asked(secret: Secret, words: list[str], answer: str) -> str:
    """What a command prints at a terminal at which the answer is typed."""
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    out = secret.place.base / "printed"
    with out.open("wb") as file:
        process = secret.place.start(words[0], *words[1:], stdin=theirs, stderr=theirs, stdout=file.fileno())
        process.wait(timeout=200)
    os.close(theirs)
    said = os.read(ours, 100_000).decode()
    os.close(ours)
    return said + Path(out).read_text()
