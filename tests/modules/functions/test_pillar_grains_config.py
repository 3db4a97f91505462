"""``pillar``, ``grains``, ``config`` and ``match``, against answers recorded from Salt."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument

Make = Callable[..., Context]

PILLAR: dict[str, object] = {
    "s": "text",
    "nul": None,
    "l": [1, 2, {"k": "v"}],
    "d": {"x": {"y": 1}, "l": [1]},
    "shared": "pillar",
    "mykey": {"a": {"c": 2}, "l": [2]},
    "master": {"mm": {"q": 1}},
    "web.port": 80,
}
GRAINS: dict[str, object] = {
    "id": "here",
    "os": "Debian",
    "os_family": "Debian",
    "ip_interfaces": {"lo": ["127.0.0.1", "::1"]},
    "shared": "grains",
    "empty": "",
}
OPTS: dict[str, object] = {"mykey": {"a": {"b": 1}, "l": [1]}, "shared": "opts", "hash_type": "sha256"}


@pytest.fixture
def known(make_context: Make) -> Context:
    return make_context(grains=GRAINS, pillar=PILLAR, opts=OPTS)


@pytest.mark.parametrize(
    ("call", "args", "kwargs", "expected"),
    [
        ("pillar.get", ("d:x:y",), {}, 1),
        ("pillar.get", ("d:x:zz",), {}, ""),
        ("pillar.get", ("d:x:zz", "dd"), {}, "dd"),
        ("pillar.get", ("nul", "dd"), {}, None),
        ("pillar.get", ("l:0",), {}, 1),
        ("pillar.get", ("l:k",), {}, "v"),
        ("pillar.get", ("d.x.y",), {"delimiter": "."}, 1),
        ("pillar.get", ("s:deeper", "dd"), {}, "dd"),
        ("pillar.get", ("", "dd"), {}, "dd"),
        ("pillar.get", ("d:x", {"y": 5, "z": 6}), {"merge": True}, {"y": 1, "z": 6}),
        ("pillar.get", ("d", {"l": [0]}), {"merge": True}, {"l": [1], "x": {"y": 1}}),
        (
            "pillar.get",
            ("d", {"l": [0]}),
            {"merge": True, "merge_nested_lists": True},
            {"l": [0, 1], "x": {"y": 1}},
        ),
        ("pillar.get", ("l", [0]), {"merge": True}, [0, 1, 2, {"k": "v"}]),
        ("pillar.get", ("s", {"a": 1}), {"merge": True}, "text"),
        ("pillar.get", ("zz", {"a": 1}), {"merge": True}, {"a": 1}),
        ("pillar.item", ("s", "d:x", "zz"), {}, {"s": "text", "d:x": {"y": 1}, "zz": ""}),
        ("pillar.item", ("zz",), {"default": "q"}, {"zz": "q"}),
        ("pillar.items", ("s",), {}, {"s": "text"}),
        ("pillar.items", (), {}, PILLAR),
        ("pillar.data", (), {}, PILLAR),
        ("pillar.raw", (), {}, PILLAR),
        ("pillar.raw", ("s",), {}, "text"),
        ("pillar.raw", ("zz",), {}, {}),
        ("pillar.ls", (), {}, list(PILLAR)),
        ("pillar.keys", ("d",), {}, ["x", "l"]),
        ("pillar.fetch", ("d:x:zz", "q"), {}, "q"),
        ("pillar.fetch", ("d:x:y",), {}, 1),
        ("pillar.obfuscate", ("s", "d"), {}, {"s": "<str>", "d": {"x": {"y": "<int>"}, "l": ["<int>"]}}),
        ("pillar.filter_by", ({"text": 1, "default": 2}, "s"), {}, 1),
        ("pillar.filter_by", ({"other": 1, "default": 2}, "s"), {}, 2),
        ("config.get", ("shared",), {}, "opts"),
        ("config.get", ("shared",), {"omit_opts": True}, "grains"),
        ("config.get", ("shared",), {"omit_opts": True, "omit_grains": True}, "pillar"),
        ("config.get", ("mykey:a:b",), {}, 1),
        ("config.get", ("mykey:a:c",), {}, 2),
        ("config.get", ("mykey",), {"merge": "recurse"}, {"a": {"c": 2, "b": 1}, "l": [1]}),
        ("config.get", ("mykey",), {"merge": True}, {"a": {"c": 2, "b": 1}, "l": [1]}),
        ("config.get", ("mykey",), {"merge": "overwrite"}, {"a": {"b": 1}, "l": [1]}),
        ("config.get", ("mykey:a",), {"merge": "recurse"}, {"c": 2, "b": 1}),
        ("config.get", ("mykey:a",), {"merge": "overwrite"}, {"b": 1}),
        ("config.get", ("mykey:a:c", "d"), {"merge": "overwrite"}, "d"),
        ("config.get", ("shared",), {"merge": "recurse", "omit_opts": True}, "opts"),
        ("config.get", ("redis.port",), {}, 6379),
        ("config.get", ("virt:tunnel",), {}, False),
        ("config.get", ("nope", "d"), {"merge": "recurse"}, "d"),
        ("config.get", ("mm:q",), {}, 1),
        ("config.get", ("mm:q",), {"omit_master": True}, ""),
        ("config.get", ("os",), {}, "Debian"),
        ("config.get", ("d/x/y",), {"delimiter": "/"}, 1),
        ("config.get", ("nope", "d"), {}, "d"),
        ("config.option", ("shared",), {}, "opts"),
        ("config.option", ("s",), {}, "text"),
        ("config.option", ("mykey:a:b",), {}, ""),
        ("config.option", ("nope", 5), {}, 5),
        ("config.option", ("share*",), {"wildcard": True}, {"shared": "opts"}),
        ("config.merge", ("mykey",), {}, {"a": {"b": 1}, "l": [1]}),
        ("config.merge", ("nope", "d"), {}, "d"),
        ("config.merge", ("os", "d"), {}, "d"),
        ("config.merge", ("mykey",), {"omit_opts": True}, {"a": {"c": 2}, "l": [2]}),
        ("config.merge", ("mykey",), {"omit_pillar": True}, {"a": {"b": 1}, "l": [1]}),
        ("config.merge", ("mm",), {}, {"q": 1}),
        ("config.merge", ("mm", "d"), {"omit_master": True}, "d"),
        ("config.option", ("nope*",), {"wildcard": True}, {}),
        ("config.option", ("redis.p*",), {"wildcard": True}, {"redis.port": 6379}),
        ("config.dot_vals", ("web",), {}, {"web.port": 80}),
        ("config.valid_fileproto", ("salt://x",), {}, True),
        ("config.manage_mode", ("644",), {}, "0644"),
        ("config.manage_mode", (600,), {}, "0600"),
        ("config.manage_mode", ("0755",), {}, "0755"),
        ("config.backup_mode", ("minion",), {}, "minion"),
        ("config.backup_mode", (), {}, ""),
        ("grains.get", ("os",), {}, "Debian"),
        ("grains.get", ("ip_interfaces:lo",), {}, ["127.0.0.1", "::1"]),
        ("grains.get", ("nope", "d"), {}, "d"),
        ("grains.fetch", ("os",), {}, "Debian"),
        ("grains.item", ("os", "nope"), {}, {"os": "Debian", "nope": ""}),
        ("grains.items", (), {}, GRAINS),
        ("grains.ls", (), {}, sorted(GRAINS)),
        ("grains.has_value", ("os",), {}, True),
        ("grains.has_value", ("empty",), {}, True),
        ("grains.has_value", ("nope",), {}, False),
        ("grains.equals", ("os", "Debian"), {}, True),
        ("grains.equals", ("os", "Other"), {}, False),
    ],
)
def test_a_value_is_found_as_salt_finds_it(
    known: Context, call: str, args: tuple[object, ...], kwargs: dict[str, object], expected: object
) -> None:
    assert known.functions[call](*args, **kwargs) == expected


@pytest.mark.parametrize(
    ("table", "kwargs", "expected"),
    [
        ({"Debian": {"a": 1}, "RedHat": {"a": 2}, "default": {"a": 3}}, {}, {"a": 1}),
        ({"RedHat": {"a": 2}, "default": {"a": 3}}, {}, {"a": 3}),
        ({"RedHat": {"a": 2}}, {}, None),
        ({"RedHat": {"a": 2}}, {"default": "RedHat"}, {"a": 2}),
        ({"Debian": {"d": {"x": 1}}}, {"merge": {"d": {"y": 2}}}, {"d": {"x": 1, "y": 2}}),
        ({"Debian": None}, {"merge": {"a": 1}}, {"a": 1}),
        ({"default": None}, {"merge": {"a": 1}}, {"a": 1}),
        (
            {"Debian": {"a": 1, "l": [1]}, "base": {"a": 0, "b": 1, "l": [0]}},
            {"base": "base"},
            {"a": 1, "b": 1, "l": [1]},
        ),
        ({"Deb*": {"a": 1}}, {}, {"a": 1}),
        ({"D[ae]*": {"a": 1}, "Debian": {"a": 2}}, {}, {"a": 2}),
        ({"127.0.0.1": {"a": 1}}, {"grain": "ip_interfaces:lo"}, {"a": 1}),
        ({"x": 1}, {"grain": "nope"}, None),
        ({"Debian": "text"}, {}, "text"),
    ],
)
def test_filter_by_chooses_as_salt_does(
    known: Context, table: dict[str, object], kwargs: dict[str, object], expected: object
) -> None:
    assert known.functions["grains.filter_by"](table, **kwargs) == expected


@pytest.mark.parametrize(
    ("table", "kwargs"),
    [
        ({"Debian": {"a": 1}}, {"merge": "x"}),
        ({"Debian": "text"}, {"merge": {"a": 1}}),
        ({"Debian": "text", "base": {"a": 1}}, {"base": "base"}),
    ],
)
def test_filter_by_merges_mappings_only(
    known: Context, table: dict[str, object], kwargs: dict[str, object]
) -> None:
    with pytest.raises(BadArgument, match="can only merge mappings"):
        known.functions["grains.filter_by"](table, **kwargs)


def test_what_a_template_does_to_an_answer_does_not_reach_pillar(known: Context) -> None:
    answer = known.functions["pillar.get"]("d")
    assert isinstance(answer, dict)
    answer["x"]["y"] = "changed"
    assert known.functions["pillar.get"]("d:x:y") == 1


def test_a_missing_key_raises_if_that_is_configured(make_context: Make) -> None:
    strict = make_context(pillar={}, opts={"pillar_raise_on_missing": True})
    with pytest.raises(KeyError, match="Pillar key not found: zz"):
        strict.functions["pillar.get"]("zz")
    assert strict.functions["pillar.get"]("zz", None) is None


def test_lists_join_if_pillar_is_configured_so(make_context: Make) -> None:
    joined = make_context(pillar={"d": {"l": [1]}}, opts={"pillar_merge_lists": True})
    assert joined.functions["pillar.get"]("d", {"l": [0]}, merge=True) == {"l": [0, 1]}


def test_keys_of_what_has_none_are_refused(known: Context) -> None:
    with pytest.raises(KeyError, match="zz"):
        known.functions["pillar.keys"]("zz")
    with pytest.raises(BadArgument, match="not a mapping"):
        known.functions["pillar.keys"]("s")


@pytest.mark.parametrize(
    ("call", "args", "kwargs", "expected"),
    [
        ("match.compound", ("G@os:Debian and here",), {}, True),
        ("match.compound", ("not here",), {}, False),
        ("match.glob", ("h*",), {}, True),
        ("match.glob", ("h*",), {"minion_id": "x"}, False),
        ("match.pcre", ("h.re",), {}, True),
        ("match.list", ("a,here",), {}, True),
        ("match.list", (["a", "b"],), {}, False),
        ("match.grain", ("os:Deb*",), {}, True),
        ("match.grain", ("os|Deb*",), {"delimiter": "|"}, True),
        ("match.grain_pcre", ("os:Deb.*",), {}, True),
        ("match.pillar", ("s:te*",), {}, True),
        ("match.pillar_pcre", ("s:tex.",), {}, True),
        ("match.filter_by", ({"h*": {"a": 1}, "x": 2},), {}, {"a": 1}),
        ("match.filter_by", ({"z*": 1},), {}, None),
        ("match.filter_by", ({"z*": 1, "x": 2},), {"default": "x"}, 2),
        ("match.filter_by", ({"here": {"a": 1}},), {"merge": {"b": 2}}, {"a": 1, "b": 2}),
        (
            "match.filter_by",
            ({"here": {"a": [1]}},),
            {"merge": {"a": [2]}, "merge_lists": True},
            {"a": [1, 2]},
        ),
        ("match.search_by", ({"web": ["here"], "db": ["x*"], "any": "*"},), {}, ["web", "any"]),
        ("match.search_by", ({"db": ["x*"]},), {}, None),
        ("match.ifelse", ("x*", 1, "h*", 2, 3), {}, 2),
        ("match.ifelse", ("x*", 1, 3), {}, 3),
        ("match.ifelse", ("h*", {"a": 1}), {"merge": {"b": 2}}, {"a": 1, "b": 2}),
    ],
)
def test_targets_match_this_machine(
    known: Context, call: str, args: tuple[object, ...], kwargs: dict[str, object], expected: object
) -> None:
    assert known.functions[call](*args, **kwargs) == expected
