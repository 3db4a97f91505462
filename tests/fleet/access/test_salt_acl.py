"""Access lists of a Salt master: what becomes of them, and that an import never allows more than Salt did."""

from __future__ import annotations

import re
from fnmatch import fnmatch, fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saltern.cli.main import run
from saltern.fleet.access.document import read_policy
from saltern.fleet.access.policy_text import policy_text
from saltern.fleet.access.salt_acl import import_acl
from saltern.fleet.access.salt_patterns import as_globs, as_name_globs, as_wide_globs

MASTER = r"""
nodegroups:
  web: 'web* and G@os:Debian'
  two: [a1, a2]
publisher_acl_blacklist:
  users: [mallory, '^(?!sudo_).*$']
  modules: [cmd, 'test.*']
publisher_acl:
  larry:
    - test.ping
    - network.*
  '%wheel':
    - 'N@web':
      - state\.apply$
      - (pkg.install|pkg.remove)
    - '@runner'
external_auth:
  pam:
    thatch:
      - 'web* and not web9':
        - test.*
        - test.echo: {args: [hello]}
      - 'I@role:x': [a.b]
    admins%:
      - .*
    '*': [test.ping]
  ldap:
    bob: ['[ab]x.y', '@wheel', sys.doc]
  auto:
    eve: ['.*']
"""


def test_lists_become_rules_and_what_is_left_out_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    master = tmp_path / "master"
    master.write_text(MASTER)
    assert run(["policy", "import-salt", str(master)]) == 0
    written = capsys.readouterr()
    policy, _ = read_policy(written.out)
    assert [(rule.who, rule.functions, rule.target, rule.deny) for rule in policy.rules] == [
        (("local:mallory",), ("*",), "*", True),
        (("*",), ("cmd.*", "test*", "test.*"), "*", True),
        (("local:larry",), ("test.ping", "network.*"), "*", False),
        (("group:local:wheel",), ("state.apply", "pkg.install", "pkg.remove"), "@web", False),
        (("pam:thatch",), ("test.*",), "web* and not web9", False),
        (("group:pam:admins",), ("*",), "*", False),
        (("bob",), ("sys.doc",), "*", False),
    ]
    assert policy.login.socket and policy.login.pam is not None
    left_out = [
        "(?!sudo_)",
        "@runner",
        "test.echo",
        "I@role:x",
        "'*' means those",
        "ldap",
        "[ab]x.y",
        "@wheel",
        "auto",
    ]
    assert all(word in written.err for word in left_out)
    assert f"{master}:29" in written.err  # the line of the name
    assert "saltern fleet groups set two L@a1,a2" in written.err
    assert "saltern operators add bob" in written.err


@pytest.mark.parametrize(
    "master",
    [
        {"publisher_acl": ["a"]},
        {"publisher_acl": {"joe": None}},
        {"publisher_acl": {"joe": [{"a": 1, "b": 2}, 5]}},
        {"external_auth": {"pam": ["joe"]}},
        {"external_auth": {"pam": {"joe": [{"( web": ["x.y"]}]}}},
        {"external_auth": {"pam": {"joe": [{"N@none": ["x.y"]}]}}},
        {"nodegroups": {"a": 5}},
    ],
)
def test_what_is_not_understood_is_reported_and_allows_nothing(master: dict[str, object]) -> None:
    made = import_acl(master)
    assert made.rules == [] and made.notes


def test_a_text_of_rules_is_read_as_it_was_meant() -> None:
    made = import_acl({"publisher_acl": {"yes": ["on.*", "1.0"], "no: #": ["x.y"]}})
    policy, _ = read_policy(policy_text(made.rules, made.login))
    assert policy.rules == tuple(made.rules)


pieces = st.sampled_from(
    ["test", "ping", ".", r"\.", ".*", "|", "^", "$", "(", ")", "[ab]", "x", "?", "+", "_"]
)
patterns = st.lists(pieces, min_size=1, max_size=7).map("".join)
names = st.lists(st.sampled_from(["test", "ping", "x", "a", "_"]), min_size=1, max_size=3).map("".join)
functions = st.tuples(names, names).map(".".join)


def salt_allows(pattern: str, function: str) -> bool:
    try:
        return re.match(pattern, function) is not None
    except re.error:
        return False


def salt_lists(pattern: str, name: str) -> bool:
    try:
        return fnmatch(name, pattern) or re.match(rf"\A{pattern}\Z", name) is not None
    except re.error:
        return False


@pytest.mark.parametrize(
    ("pattern", "globs"),
    [
        (".*", ("*",)),
        ("network.*", ("network.*",)),
        (r"network\..*", ("network.*",)),
        (r"\..*", (".*",)),
        (".*ping", ("*ping",)),
        ("^(cmd.run|cmd.shell)$", ("cmd.run", "cmd.shell")),
        ("[ab].c", None),
        ("a+", None),
        ("a||b", None),
    ],
)
def test_expressions_become_globs(pattern: str, globs: tuple[str, ...] | None) -> None:
    assert as_globs(pattern) == globs


@settings(max_examples=2000)
@given(patterns, functions)
def test_a_glob_never_allows_what_salt_does_not(pattern: str, function: str) -> None:
    for one in as_globs(pattern) or ():
        assert not fnmatchcase(function, one) or salt_allows(pattern, function), (pattern, one)


@settings(max_examples=1000)
@given(patterns, functions)
def test_a_name_never_means_more_people_than_in_salt(pattern: str, name: str) -> None:
    for one in as_name_globs(pattern) or ():
        assert not fnmatchcase(name, one) or salt_lists(pattern, name), (pattern, one)


@settings(max_examples=1000)
@given(patterns, functions)
def test_a_blacklist_is_never_narrower_than_in_salt(pattern: str, name: str) -> None:
    globs = as_wide_globs(pattern)
    if globs is not None and salt_lists(pattern, name):
        assert any(fnmatchcase(name, one) for one in globs), (pattern, globs)
