"""The reference of delayed rendering, which is written by hand, is complete and as the code is."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from tests.delayed.thing import run, seen
from tools.examples import ROOT
from tools.reference.errors import collect

from saltern.compiler import delayed as entries
from saltern.config.options import OPTIONS
from saltern.config.settings import Settings
from saltern.engine.session import Session
from saltern.engine.single import single
from saltern.language.delayed import REFRESHABLE, WHEN, WORDS
from saltern.language.result import Outcome
from saltern.render import block_words, blocks
from saltern.runtime.frame_policy import FATES, Came, Fate

DOCS = ROOT / "docs"


@cache
def page() -> str:
    return (DOCS / "reference" / "delayed.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return page().partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> dict[str, str]:
    """The tables of a section: the first cell of each row, and the last."""
    cells = [line.strip("|").split(" | ") for line in section(title).splitlines() if line.startswith("|")]
    return {first.strip(): last.strip() for first, *_, last in cells if not first.startswith((" ---", "---"))}


def named(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


def test_every_tag_word_and_keyword_is_on_the_page() -> None:
    assert all(f"`#!{tag}" in section("Tags") for tag in blocks.TAGS)
    words = section("Words of a tag")
    assert all(f"`{word}" in words for word in ("scoped", "delayed_repeat_limit", "refresh"))
    assert ",".join(REFRESHABLE) in words and all(f"`{none}`" in words for none in block_words.NONE_WORDS)
    assert {*WORDS, "register"} <= named(section("Keywords of a state"))
    assert {*entries.KINDS, "context", "when", *WHEN} <= named(section("Keys of an entry"))


def test_every_option_is_on_the_page_with_its_usual_value() -> None:
    told = section("Configuration")
    options = [OPTIONS[name] for name in OPTIONS if name.startswith("delayed_")]
    assert [one.name for one in options if f"| `{one.name}` | {one.default} |" not in told] == []


def test_every_key_of_prev_ret_is_on_the_page_and_no_other() -> None:
    caller = "a:\n  test.nop:\n    - delayed_render:\n      - block: B\n"
    inside = "b:\n  test.nop:\n    - seen: {{ prev_ret | list | tojson }}\n"
    keys = seen(run(f"{caller}#!delayed_block B\n{inside}#!end_delayed_block\n"), "a>B#1>b")
    assert isinstance(keys, list)
    assert {key for row in rows("Keys of `prev_ret`") for key in named(row)} == set(keys)


def test_every_code_of_tags_entries_and_values_is_on_the_page() -> None:
    known = collect()
    told = set(re.findall(r"\[`([a-z-]+)`\]\(errors.md#\1\)", section("Codes")))
    ours = {
        code
        for code, problem in known.items()
        if re.match("delayed-|late-|register-", code)
        and any(place.startswith(("render/", "compiler/")) for place in problem.places)
    }
    assert told == ours


FATE_WORDS = {Fate.RENDER: "rendered", Fate.FAIL: "fails", Fate.SKIP: "left out", Fate.DEFER: "deferred"}


def test_the_concept_has_the_table_of_what_becomes_of_a_target() -> None:
    text = (DOCS / "concepts" / "delayed-rendering.md").read_text(encoding="utf-8")
    table = re.split(r"\n\| the caller .*\n\| ---.*\n", text)[1].partition("\n\n")[0]
    told = [line.strip("| ").split(" | ")[1:] for line in table.splitlines()]
    assert told == [[FATE_WORDS[FATES[when][came]] for when in WHEN] for came in Came]


# -- what states tell ----------------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> str:
    place = tmp_path / "repository"
    for words in (["init", "-q", str(place)], ["-C", str(place), *COMMIT]):
        subprocess.run(["git", *words], check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull})
    return str(place)


COMMIT = ("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "first")
CALLS: dict[str, tuple[str, dict[str, object]]] = {
    "file.managed": ("{tmp}/file", {"contents": "text"}),
    "file.append": ("{tmp}/appended", {"text": "text"}),
    "file.directory": ("{tmp}/directory", {}),
    "file.symlink": ("{tmp}/link", {"target": "/tmp"}),
    "file.absent": ("{tmp}/nothing", {}),
    "cmd.run": ("true", {}),
    "git.latest": ("{repository}", {"target": "{tmp}/copy"}),
    "user.present": ("root", {}),
    "group.present": ("root", {}),
    "host.present": ("localhost", {"ip": "127.0.0.1"}),
    "mount.mounted": ("/proc", {"device": "proc", "fstype": "proc", "persist": False}),
    "service.dead": ("no-such-service", {}),
    "x509.private_key_managed": ("{tmp}/key.pem", {"algo": "ed25519"}),
}
LOOKED_AT = frozenset({"user", "group", "host", "mount", "service"})  # asked, and never changed


def data_of(function: str, tmp: Path, repository: str) -> Mapping[str, object]:
    def filled(value: object) -> object:
        return value.format(tmp=tmp, repository=repository) if isinstance(value, str) else value

    name, args = CALLS[function]
    settings = Settings(
        file_roots={"base": [str(tmp)]}, pillar_roots={}, test=function.partition(".")[0] in LOOKED_AT
    )
    report = single(
        Session(settings), function, str(filled(name)), {key: filled(value) for key, value in args.items()}
    )
    (answer,) = report.answers
    assert answer.result.outcome is not Outcome.FAILED, answer.result.comment
    return answer.result.data


@pytest.mark.parametrize("function", CALLS)
def test_a_state_tells_what_the_page_says(function: str, tmp_path: Path, repository: str) -> None:
    (told,) = [cell for states, cell in rows("What states report").items() if function in named(states)]
    wanted = named(told.partition(";")[0])
    assert wanted and wanted <= data_of(function, tmp_path, repository).keys()
