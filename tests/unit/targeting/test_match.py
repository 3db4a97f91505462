from __future__ import annotations

import pytest

from saltern.targeting.match import MATCHERS, BadTarget, Subject, matches

WEB = Subject(
    id="web1.example.com",
    grains={
        "os": "Debian",
        "osrelease": "12",
        "roles": ["web", "cache"],
        "a:b": "colon",
        "nested": {"deep": {"key": "value"}, "list": ["one", {"two": 2}]},
        "version": "1:2.3",
        "ipv4": ["127.0.0.1", "10.1.2.3"],
        "ipv6": ["::1", "fe80::1%eth0", "written by hand"],
        "fqdn": "web1.example.com",
    },
    pillar={"role": "frontend", "users": {"alice": {"shell": "/bin/zsh"}}, "stars": "*"},
    nodegroups={
        "web": "web*",
        "names": ["db1", "web1.example.com"],
        "words": "db1 web1.example.com",
        "both": ["G@os:Debian", "and", "N@web"],
        "either": "db* or web*",
        "regex": ["web(1|2)"],
        "loop": "N@pool",
        "pool": "web* and N@loop",
        "number": 3,
        "empty": "",
    },
    data={"rack": "r12", "tags": ["a", "b"], "map": {"k": 1}},
)


@pytest.mark.parametrize(
    ("how", "expression", "expected"),
    [
        ("glob", "web*", True),
        ("glob", "*", True),
        ("glob", "WEB*", False),
        ("pcre", r"web\d+", True),
        ("pcre", r"eb\d", False),
        ("list", "db1,web1.example.com", True),
        ("list", ["db1", "web1.example.com"], True),
        ("list", "web1", False),
        ("grain", "os:Debian", True),
        ("grain", "os:deb*", True),
        ("grain", "os:RedHat", False),
        ("grain", "osrelease:12", True),
        ("grain", "roles:web", True),
        ("grain", "roles:db", False),
        ("grain", "nested:deep:key:val*", True),
        ("grain", "nested:deep:key", True),
        ("grain", "nested:list:two:2", True),
        ("grain", "version:1:2.*", True),
        ("grain", "nested:*:key:value", True),
        ("grain", "frob:*", False),
        ("grain_pcre", "os:^(deb|ubu)", True),
        ("grain_pcre", "roles:ca.*e$", True),
        ("pillar", "role:front*", True),
        ("pillar", "users:alice:shell:*zsh", True),
        ("pillar", "users:alice", True),
        ("pillar_pcre", "role:(front|back)end", True),
        ("pillar_exact", "role:front*", False),
        ("pillar_exact", "role:frontend", True),
        ("ipcidr", "10.0.0.0/8", True),
        ("ipcidr", "10.1.2.3", True),
        ("ipcidr", "192.168.0.0/16", False),
        ("ipcidr", "fe80::/10", True),
        ("ipcidr", "2001:db8::/32", False),
        ("data", "rack:R*", True),
        ("data", "tags:b", True),
        ("data", "map:k", True),
        ("data", "frob:x", False),
        ("range", "web[1-3].example.com", True),
        ("range", "web[2-3].example.com,db1", False),
        ("nodegroup", "web", True),
        ("compound", "G@os:Debian and ( db* or web* )", True),
        ("compound", "not web*", False),
        ("compound", "web* not G@os:RedHat", True),
        ("compound", "not G@os:RedHat and web*", True),
        ("compound", "db* or web* and G@os:RedHat", False),
        ("compound", "web* or db* and G@os:RedHat", True),
        ("compound", "not ( db* or G@os:RedHat )", True),
        ("compound", "G|@os|Debian", True),
        ("compound", "G|@a:b|colon", True),
        ("compound", "P@os:(Debian|Ubuntu) and S@10.0.0.0/8", True),
        ("compound", "I@role:frontend and J@role:front.*", True),
        ("compound", "L@db1,web1.example.com and E@web.*", True),
        ("compound", "R@web[1-9].example.com", True),
        ("compound", "N@web", True),
        ("compound", "N@names and N@words", True),
        ("compound", "N@both", True),
        ("compound", "db9 and N@either", False),
        ("compound", "N@regex", True),
        ("compound", ["web*", "and", "not", "G@os:Red Hat"], True),
        ("compound", "user@host", False),
    ],
)
def test_a_target_means_this_machine_or_not(how: str, expression: str | list[object], expected: bool) -> None:
    assert matches(WEB, expression, how) is expected


@pytest.mark.parametrize(
    ("expression", "what", "fix"),
    [
        ("( web*", "column 1: '(' is never closed", "space before"),
        ("web* )", "column 6: ')' closes nothing", "remove"),
        ("web* and", "column 9: something must follow 'and'", "add a target"),
        ("not", "something must follow 'not'", "add"),
        ("and web*", "column 1: 'and' is where a target is expected", "before it"),
        ("( or web* )", "column 3: 'or' is where", "before it"),
        ("( )", "column 3: ')' is where", ""),
        ("web* db*", "column 6: 'and' or 'or' is missing before 'db*'", "L@a,b,c"),
        ("( web* db* )", "column 8: 'and' or 'or' is missing before 'db*'", "L@a,b,c"),
        ("web* and Q@x", "column 10: no matcher has the letter 'Q'", "G, P, I"),
        ("(web* or db*)", "column 1: '(web*' is not a target", "spaces around"),
        ("S@10.1.2.3/8", "'10.1.2.3/8' is not an address or network", "did you mean '10.0.0.0/8'?"),
        ("S@nonsense", "is not an address", "10.0.0.0/8"),
        ("E@(", "is not a regular expression", ""),
        ("P@os:[", "is not a regular expression", ""),
        ("G@os", "grain target 'os' has no value", "os:*"),
        ("L@", "'L@' has nothing after the '@'", "add"),
        ("N@wbe", "no nodegroup is called 'wbe'", "did you mean 'web'?"),
        ("N@loop", "nodegroups contain each other: loop -> pool -> loop", ""),
        ("N@number", "must be a text or a list", ""),
        ("N@empty", "the target is empty", ""),
        ("  ", "the target is empty", "'*'"),
        ("R@%cluster", "names a cluster", "name the hosts"),
        ("R@web[a-z]", "cannot be read", "web[1-3]"),
        ("R@web[1-3", "cannot be read", "web[1-3]"),
        (["web*", "or"], "word 3: something must follow 'or'", "add"),
    ],
)
def test_a_malformed_target_is_reported_with_place_and_hint(
    expression: str | list[object], what: str, fix: str
) -> None:
    with pytest.raises(BadTarget) as caught:
        matches(WEB, expression)
    assert what in caught.value.what
    assert fix in caught.value.fix
    assert "[bad-target]" in str(caught.value)


def test_an_unknown_matcher_and_a_gone_one_are_errors() -> None:
    with pytest.raises(BadTarget, match="did you mean 'grain'"):
        matches(WEB, "os:Debian", "grian")
    with pytest.raises(BadTarget, match="exsel"):
        matches(WEB, "1 == 1", "exsel")
    with pytest.raises(BadTarget, match="must be a text"):
        matches(WEB, ["a"], "glob")


def test_a_deep_expression_is_refused_rather_than_followed() -> None:
    with pytest.raises(BadTarget, match="nested parentheses"):
        matches(WEB, "( " * 5000 + "web*" + " )" * 5000)


def test_another_delimiter_may_be_given_from_outside() -> None:
    assert matches(WEB, "nested|deep|key|value", "grain", delimiter="|")


def test_every_documented_matcher_has_a_row() -> None:
    documented = (
        "glob pcre grain grain_pcre list pillar pillar_pcre pillar_exact ipcidr data range compound nodegroup"
    )
    assert set(documented.split()) <= set(MATCHERS)


def test_a_machine_without_addresses_is_in_no_network() -> None:
    assert not matches(Subject(id="x"), "S@10.0.0.0/8")
