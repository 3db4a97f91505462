"""``master_tops``: states for this machine from a command or a module, beside those of the top file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit import errors

from saltern.compat.tops import Configuration
from saltern.config.settings import Settings
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.engine.show import show_top
from saltern.language.diagnostics import CompileError, Diagnostics
from saltern.targeting.top import join_assignments

SALT = Path(__file__).parents[2] / "build" / "salt" / "programs" / "salt-call"
NODE = "#!/bin/sh\ncat <<END\n{text}\nEND\n"
TOP = "base:\n  '*': [web, common]\n"
MODULE = """
def __virtual__():
    return "mine" in __opts__["master_tops"]

def top(**kwargs):
    word = __opts__["master_tops"]["mine"]
    return {"base": [word, kwargs["opts"]["id"], kwargs["grains"]["id"] + "2"]}
"""
PRINTED = {
    "a list": ("classes: [db, web]", {"base": ["web", "common", "db"]}),
    "a mapping": ("classes:\n  db: {port: 1}\n  cache:", {"base": ["web", "common", "db", "cache"]}),
    "an environment": ("environment: dev\nclasses: [db]", {"base": ["web", "common"], "dev": ["db"]}),
}


def tree(place: Path, files: dict[str, str], **config: object) -> Settings:
    for path, text in files.items():
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
    roots = {env: [str(place / env)] for env in ("base", "dev")}
    for env in roots:
        (place / env).mkdir(exist_ok=True)
    extension = str(place / "ext")
    cache = str(place / "cache")
    return Settings(
        id="here",
        file_roots=roots,
        pillar_roots={},
        cachedir=cache,
        extension_modules=extension,
        extra=config,
    )


def top(settings: Settings) -> dict[str, list[str]]:
    return show_top(Session(settings), Request(), Diagnostics())


def of_salt(place: Path, settings: Settings) -> object:
    """What the real Salt says about the same configuration."""
    config = place / "config"
    config.mkdir()
    words = {"id": "here", "file_client": "local", "root_dir": str(place), **settings.extra}
    words |= {"file_roots": settings.file_roots, "extension_modules": settings.extension_modules}
    (config / "minion").write_text(json.dumps(words))
    argv = [str(SALT), "--local", "-c", str(config), "state.show_top", "--out=json", "-lquiet"]
    return json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)["local"]


with_salt = pytest.mark.skipif(not SALT.exists(), reason="Salt is not installed: make salt")


@pytest.mark.parametrize("case", PRINTED)
def test_a_command_adds_to_the_top_file(tmp_path: Path, case: str) -> None:
    text, expected = PRINTED[case]
    command = {"ext_nodes": f"{tmp_path}/node --yaml"}
    settings = tree(tmp_path, {"node": NODE.format(text=text), "base/top.sls": TOP}, master_tops=command)
    assert top(settings) == expected


SOURCES = {**{case: ("ext_nodes", text) for case, (text, _) in PRINTED.items()}, "a module": ("mine", "x")}


@with_salt
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("case", SOURCES)
def test_salt_says_the_same(tmp_path: Path, case: str, first: bool) -> None:
    source, text = SOURCES[case]
    files = {"node": NODE.format(text=text), "base/top.sls": TOP, "ext/tops/mine.py": MODULE}
    settings = tree(tmp_path, files, master_tops={source: f"{tmp_path}/node"}, master_tops_first=first)
    assert top(settings) == of_salt(tmp_path, settings)


def test_the_command_is_given_the_name_of_the_machine(tmp_path: Path) -> None:
    files = {"node": '#!/bin/sh\necho "classes: [$1-$2]"\n'}
    settings = tree(tmp_path, files, master_tops={"ext_nodes": f"{tmp_path}/node 'a b'"})
    assert top(settings) == {"base": ["a b-here"]}


@pytest.mark.parametrize("place", ["base/_tops/mine.py", "ext/tops/mine.py", "ext/_tops/mine.py"])
def test_a_module_is_found_in_the_roots_and_beside_them(tmp_path: Path, place: str) -> None:
    settings = tree(tmp_path, {place: MODULE, "base/top.sls": TOP}, master_tops={"mine": "word"})
    assert top(settings) == {"base": ["web", "common", "word", "here", "here2"]}


def test_what_is_given_is_applied_without_a_top_file() -> None:
    from tests.kit import run_sls

    files = {
        "_tops/mine.py": "def top(**kwargs):\n    return {'base': ['one']}\n",
        "one.sls": "a:\n  test.nop: []\n",
    }
    report = run_sls(files, request={"sls": ()}, config={"extra": {"master_tops": {"mine": True}}})
    assert [one.chunk.id for one in report.answers] == ["a"]


WRONG = {
    "a command that fails": (
        {"node": "#!/bin/sh\necho no >&2; exit 3\n"},
        {"ext_nodes": "{here}/node"},
        "ended with 3: no",
    ),
    "no command": ({}, {"ext_nodes": "{here}/none"}, "none"),
    "an open quote": ({}, {"ext_nodes": "a 'b"}, "quotation"),
    "no YAML": ({"node": NODE.format(text="a: [")}, {"ext_nodes": "{here}/node"}, "ext_nodes"),
    "a text": ({"node": NODE.format(text="web")}, {"ext_nodes": "{here}/node"}, "not a mapping"),
    "classes as text": (
        {"node": NODE.format(text="classes: web")},
        {"ext_nodes": "{here}/node"},
        "no list of SLS",
    ),
    "an unknown environment": (
        {"node": NODE.format(text="environment: prod\nclasses: [web]")},
        {"ext_nodes": "{here}/node"},
        "no saltenv is called 'prod'",
    ),
    "an unknown source": ({}, {"zork": 1}, "the source 'zork' of master_tops is not known"),
    "a broken module": (
        {"base/_tops/t.py": "def top(**kw):\n    return 1 / 0\n"},
        {"t": 1},
        "ZeroDivisionError",
    ),
    "a list of sources": ({}, ["ext_nodes"], "needs a mapping"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_source_that_fails_is_an_error(tmp_path: Path, case: str) -> None:
    files, sources, told = WRONG[case]
    given = json.loads(json.dumps(sources).replace("{here}", str(tmp_path)))
    with pytest.raises(CompileError) as caught:
        top(tree(tmp_path, files, master_tops=given))
    assert told in str(caught.value)


def test_pillar_has_no_part_in_it(tmp_path: Path) -> None:
    files = {
        "_tops/t.py": "def top(**kw):\n    return {'base': ['gone']}\n",
        "main.sls": "a:\n  test.nop: []\n",
    }
    assert (
        errors({**files, "pillar/top.sls": "base:\n  '*': []\n"}, config={"extra": {"master_tops": {"t": 1}}})
        == []
    )


names = st.lists(st.sampled_from("abcdef"), max_size=6)


@given(names, names, st.booleans())
def test_nothing_is_lost_or_given_twice(one: list[str], other: list[str], first: bool) -> None:
    where, found = Configuration("minion"), Diagnostics()
    known = ("base",)
    begun = join_assignments({}, {"base": list(dict.fromkeys(one))}, where, found, known=known)
    both = join_assignments(
        begun, {"base": list(dict.fromkeys(other))}, where, found, first=first, known=known
    )
    head, tail = (other, one) if first else (one, other)
    assert [given.sls for given in both["base"]] == list(dict.fromkeys([*head, *tail]))
