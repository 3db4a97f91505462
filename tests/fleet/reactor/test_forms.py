"""Maps and files of reactions: every form that Salt has, and what is wrong with others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.protocol.tags import is_allowed_tag, tag_problem
from saltern.fleet.reactor.forms import Reaction, read_reactions
from saltern.fleet.reactor.rules import BadMap, Rule, read_map, sources_for
from saltern.render.yaml import read
from saltern.targeting.match import Subject, matches
from saltern.targeting.salt_types import compound_of

# Shapes as people write them, each with what it means: kind, function, target, args, kwargs.
FORMS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "new-local": (
        "a:\n  local.state.apply:\n    - tgt: web1\n    - args:\n      - mods: web\n      - pillar: {a: 1}",
        ("local", "state.apply", "web1", [], {"mods": "web", "pillar": {"a": 1}}),
    ),
    "args-as-mapping": (
        "a:\n  local.pkg.install:\n    - tgt: web1\n    - args: {name: zsh, refresh: True}",
        ("local", "pkg.install", "web1", [], {"name": "zsh", "refresh": True}),
    ),
    "old-local": (
        "a:\n  cmd.cmd.run:\n    - tgt: 'os:Debian'\n    - expr_form: grain\n    - arg:\n      - uptime",
        ("local", "cmd.run", "G@os:Debian", ["uptime"], {}),
    ),
    "arg-is-one-text": (
        "a:\n  local.state.sls:\n    - tgt: '*'\n    - arg: web",
        ("local", "state.sls", "*", ["web"], {}),
    ),
    "kwarg": (
        "a:\n  local.state.sls:\n    - tgt: '*'\n    - arg: [web]\n    - kwarg:\n        pillar: {a: 1}",
        ("local", "state.sls", "*", ["web"], {"pillar": {"a": 1}}),
    ),
    "keyword-in-arg": (
        "a:\n  local.state.sls:\n    - tgt: '*'\n    - arg:\n      - web\n      - 'pillar={a: [1, b]}'",
        ("local", "state.sls", "*", ["web"], {"pillar": {"a": [1, "b"]}}),
    ),
    "function-as-a-word": (
        "a:\n  local:\n    - test.ping\n    - tgt: '*'",
        ("local", "test.ping", "*", [], {}),
    ),
    "list-of-targets": (
        "a:\n  local.test.ping:\n    - tgt: [web1, db1]\n    - tgt_type: list",
        ("local", "test.ping", "L@web1,db1", [], {}),
    ),
    "new-runner": (
        "a:\n  runner.state.orchestrate:\n    - args:\n      - mods: orch.deploy\n      - pillar: {x: 1}",
        ("runner", "state.orchestrate", "", [], {"mods": "orch.deploy", "pillar": {"x": 1}}),
    ),
    "old-runner": (
        "a:\n  runner.state.orch:\n    - mods: orch.deploy\n    - pillar: {x: 1}",
        ("runner", "state.orch", "", [], {"mods": "orch.deploy", "pillar": {"x": 1}}),
    ),
    "runner-with-arg": (
        "a:\n  runner.cache.clear_all:\n    - arg: [web1]",
        ("runner", "cache.clear_all", "", ["web1"], {}),
    ),
    "new-wheel": (
        "a:\n  wheel.key.accept:\n    - args:\n      - match: web1",
        ("wheel", "key.accept", "", [], {"match": "web1"}),
    ),
    "old-wheel": (
        "a:\n  wheel.key.delete:\n    - match: web1",
        ("wheel", "key.delete", "", [], {"match": "web1"}),
    ),
    "new-caller": (
        "a:\n  caller.file.touch:\n    - args:\n      - name: /tmp/x",
        ("caller", "file.touch", "", [], {"name": "/tmp/x"}),
    ),
    "old-caller": (
        "a:\n  caller.file.touch:\n    - args: [/tmp/x]",
        ("caller", "file.touch", "", ["/tmp/x"], {}),
    ),
    "no-arguments": ("a: runner.test.stdout_print", ("runner", "test.stdout_print", "", [], {})),
}
WRONG = {
    "no target": ("a:\n  local.test.ping: []", "has no 'tgt'"),
    "unknown kind": ("a:\n  locl.test.ping:\n    - tgt: x", "local"),
    "no function": ("a:\n  local:\n    - tgt: x", "one function"),
    "no list": ("a:\n  local.test.ping: {tgt: x}", "no list"),
    "argument beside": ("a:\n  local.state.sls:\n    - tgt: x\n    - mods: web", "given by 'args'"),
    "positional args": ("a:\n  runner.x.y:\n    - args: [1, 2]", "keywords"),
    "bad type": ("a:\n  local.test.ping:\n    - tgt: x\n    - tgt_type: globb", "glob"),
    "no mapping": ("[1]", "no mapping"),
    "keywords of text": ("a:\n  local.test.ping:\n    - tgt: x\n    - kwarg: test", "mapping of keywords"),
    "empty target": ("a:\n  local.test.ping:\n    - tgt: ''", "empty"),
}


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.text("a.=- ", max_size=5))
WORDS = st.sampled_from(["tgt", "tgt_type", "arg", "kwarg", "args", "order", "ret", "mods", "list", "x"])
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=8,
)
KINDS = st.sampled_from(
    ["local.test.ping", "cmd.state.sls", "runner.x.y", "wheel.key.accept", "caller.a.b", "local"]
)


@given(
    st.one_of(
        VALUES,
        st.dictionaries(WORDS, st.one_of(VALUES, st.dictionaries(KINDS, VALUES, max_size=2)), max_size=2),
    )
)
def test_whatever_a_file_renders_to_is_read_or_reported(data: object) -> None:
    found, wrong = read_reactions(data, lambda path: len(path))
    assert all(isinstance(one.kwargs, dict) and isinstance(one.args, list) for one in found)
    assert all(one.why for one in wrong)


def reactions_of(text: str) -> tuple[list[Reaction], list[str]]:
    found, wrong = read_reactions(read(text), lambda path: len(path))
    return found, [one.why for one in wrong]


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_reaction_is_read(name: str) -> None:
    text, (kind, function, target, args, kwargs) = FORMS[name]
    (one,), wrong = reactions_of(text)
    assert not wrong
    assert (one.kind, one.function, one.target, one.args, one.kwargs) == (
        kind,
        function,
        target,
        args,
        kwargs,
    )


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_followed_says_why(name: str) -> None:
    text, part = WRONG[name]
    found, wrong = reactions_of(text)
    assert not found
    assert part in wrong[0]


def test_one_wrong_reaction_does_not_keep_others_from_it_and_order_counts() -> None:
    text = (
        "late:\n  runner.a.b:\n    - order: 10001\nbad:\n  local.test.ping: []\n"
        "first:\n  runner.c.d:\n    - order: 1\n__note: x\n"
    )
    found, wrong = reactions_of(text)
    assert [one.name for one in found] == ["first", "late"]
    assert len(wrong) == 1


def test_a_file_that_renders_to_nothing_asks_for_nothing() -> None:
    assert reactions_of("") == ([], [])


MAP = [
    {"salt/minion/*/start": ["/srv/a.sls", "/srv/b.sls"]},
    {"shop/*": "/srv/a.sls"},
    {"*": ["salt://c.sls"]},
]


def test_the_rows_of_the_map_that_match_are_followed_in_order_each_file_once() -> None:
    rules = read_map(MAP)
    assert sources_for(rules, "salt/minion/web1/start") == ("/srv/a.sls", "/srv/b.sls", "salt://c.sls")
    assert sources_for(rules, "shop/x") == ("/srv/a.sls", "salt://c.sls")
    assert sources_for(rules, "saltern/reactor/failed") == ()
    assert read_map({"a": "b"}) == (Rule("a", ("b",)),)


@pytest.mark.parametrize("value", ["x", [1], [{}], [{"a": []}], [{"a": [1]}], [{"a": None}], 7])
def test_a_map_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(BadMap):
        read_map(value)


@given(st.text(min_size=1, max_size=30))
def test_a_glob_from_an_event_can_mean_nothing_but_a_glob(text: str) -> None:
    """What a system sends must not widen the target: no operator, no group, no letter."""
    others = [Subject(id=id_, grains={"os": "Debian"}) for id_ in ("web1", "db1")]
    from fnmatch import fnmatchcase

    if not text.strip():
        return
    expression = compound_of(text, "glob")
    for subject in others:
        assert matches(subject, expression) <= fnmatchcase(
            subject.id, "".join("?" if c.isspace() else c for c in text.strip())
        )


@pytest.mark.parametrize("text", ["* or x", "G@os:Debian", "@all", "not x", "( web1 )", "and"])
def test_a_compound_expression_in_a_glob_matches_nothing(text: str) -> None:
    assert not matches(Subject(id="web1", grains={"os": "Debian"}), compound_of(text, "glob"))


ALLOWED = ("shop/x", "x", "salt/beacon/web1/load/", "salt/minion/web1/x", "salt/job/1/prog/web1/2", "saltx/y")
FOREIGN = (
    "salt/job/1/new", "salt/beacon/web2/load/", "salt/minion/web2/start", "salt/auth", "salt/key", "salt/",
    "saltern/job/1/ended", "minion_start", "salt/job/1/ret/web1", "salt/presence/change", "salt/run/1/ret",
    "salt/job/1/prog/web2/2", "salt/beacon/web1",
)  # fmt: skip


@pytest.mark.parametrize("tag", ALLOWED)
def test_a_system_may_use_tags_of_its_own(tag: str) -> None:
    assert is_allowed_tag(tag, "web1")
    assert not tag_problem(tag, "web1")


@pytest.mark.parametrize("tag", FOREIGN)
def test_a_system_may_use_no_tag_of_the_controller_or_of_another_system(tag: str) -> None:
    assert not is_allowed_tag(tag, "web1")
    assert "controller's own" in tag_problem(tag, "web1")


@given(st.text(max_size=20))
def test_whatever_a_system_is_called_it_has_no_tags_of_another(name: str) -> None:
    assert not is_allowed_tag(f"salt/minion/{name}x/start", name)
