"""Whatever a secret's origin, no output and no file shows it: every command that shows something is a row."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.e2e.command import Done, Place
from tests.secrets.canaries import ORIGINS, Canaries, canaries
from tests.secrets.keyring import KeyRing

RUNS: tuple[tuple[str, ...], ...] = (
    ("apply", "main", "-l", "trace", "--expand"),
    ("apply", "main", "--out", "json", "--test"),
    ("apply", "main", "--out", "jsonl"),
)
VIEWS: tuple[tuple[str, ...], ...] = (
    ("show", "run", "last", "--out", "junit", "--expand"),
    ("show", "run", "last", "--out", "tree"),
    ("graph", "main", "--format", "html"),
    ("graph", "--run", "last", "--format", "dot"),
    ("show", "low-sls", "main", "--out", "json"),
    ("show", "rendered", "main"),
    ("show", "pillar", "--out", "yaml", "-l", "trace"),
    ("call", "pillar.items"),
    ("call", "config.get", "vault"),
    ("call", "sdb.get", "sdb://files/yaml"),
    ("render", "states/main.sls"),
    ("explain", "main"),
    ("check", "main"),
    ("report", "-o", "report.html"),
    ("plan", "main", "-o", "a.plan"),
    ("plan", "main", "--out", "json"),
    ("drift", "main"),
)
WRONG = {
    "yaml": "a:\n  {{ pillar.WORD }}.{{ pillar.WORD }}: [{x: {{ pillar.WORD }}}]\n",
    "template": "a: {{ 1 / (pillar.WORD | string) }}\n",
    "raised": "{% do salt['own.broken'](pillar.WORD) %}\n",
    "unknown": "a:\n  test.{{ pillar.WORD | json }}: []\n",
    "requisite": "a:\n  test.nop: [{require: [{cmd: {{ pillar.WORD | json }}}]}]\n",
    "duplicate": "{{ pillar.WORD | json }}: test.nop\n{{ pillar.WORD | json }}: test.nop\n",
    "include": "include: [{{ pillar.WORD | json }}]\n",
    "argument": "a:\n  file.managed: [{{{ pillar.WORD | json }}: 1}]\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, ring: KeyRing) -> Iterator[Canaries]:
    with canaries(Place(tmp_path_factory.mktemp("canaries")), ring) as made:
        yield made


def silent(tree: Canaries, *words: str) -> Done:
    done = tree.place.run(*words, env=tree.env)
    assert done.code not in (70, 99), (words, done.err[-2000:])
    assert not tree.leaks(done.out + done.err), words
    return done


@pytest.mark.xdist_group("origins")
def test_runs_work_with_every_secret_and_show_none(tree: Canaries) -> None:
    for words in RUNS:
        done = silent(tree, *words)
        assert "***" in done.out, words
    for origin in ORIGINS:
        assert tree.words[origin].rstrip("\n") in (tree.at / origin).read_text(), origin
    assert tree.late["LATE_FILE"] in (tree.at / "late").read_text()
    assert tree.late["LATE_FRAME"] in (tree.at / "frame").read_text()
    assert tree.words["gpg"] not in (tree.at / "processes").read_text()
    for words in VIEWS:
        silent(tree, *words)
    assert not tree.files_with_leaks()


@pytest.mark.xdist_group("origins")
@pytest.mark.parametrize("mistake", WRONG)
def test_mistakes_are_reported_without_it(tree: Canaries, mistake: str) -> None:
    tree.place.write(
        {"_modules/own.py": "def broken(word):\n    raise ValueError(f'cannot use {word!r} or {word}')\n"}
    )
    for origin, words in (
        ("quoted", ("apply", "bad", "-l", "trace")),
        ("number", ("check", "bad", "--out", "json")),
        ("lines", ("apply", "bad", "--out", "json")),
    ):
        tree.place.write({"bad.sls": WRONG[mistake].replace("WORD", origin)})
        silent(tree, *words)


@pytest.mark.xdist_group("origins")
def test_it_is_shown_if_asked_for(tree: Canaries) -> None:
    done = tree.place.run("show", "pillar", "--out", "json", "--show-secrets", env=tree.env)
    found = json.loads(done.out)["local"]
    assert {name: str(found[name]).rstrip() for name in ORIGINS} == {
        name: word.rstrip() for name, word in tree.words.items()
    }
