"""Each filter that depends on nothing but its arguments: what goes in, what comes out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import TemplateRuntimeError

from saltern.render.filters import FILTERS, TESTS, resolve, resolve_test

NESTED = {"a": {"b": [5, 6, {"j": 2}]}}
TABLE = ["+----+------+", "| Id | User |", "+----+------+", "| 5  | root |", "+----+------+"]
LONG = "a line that goes on and on, well beyond the eighty columns at which YAML likes to break its lines"

# filter, value, arguments, answer; arguments are a tuple or a dict
ANSWERS: list[tuple[str, Any, Any, Any]] = [
    ("traverse", NESTED, ("a:b:1",), 6),
    ("traverse", NESTED, ("a:b:j",), 2),
    ("traverse", NESTED, (["a", "b", "0"],), 5),
    ("traverse", NESTED, ("a:b:-1:j",), 2),
    ("traverse", NESTED, ("a:x", "none"), "none"),
    ("traverse", NESTED, ("a:b:9",), None),
    ("traverse", {"a": {1: 2}}, ("a.1", None, "."), 2),
    ("traverse", {"a": "text"}, ("a:0",), None),
    ("json_query", {"hosts": [{"n": "a", "up": True}, {"n": "b", "up": False}]}, ("hosts[?up].n",), ["a"]),
    ("flatten", [[1, [2, [3, None]]], 4, "null", "None"], (), [1, 2, 3, 4]),
    ("flatten", [[1, [2, [3, None]]], 4, None], (1,), [1, [2, [3, None]], 4]),
    ("flatten", [[1, [None]], None], {"preserve_nulls": True}, [1, None, None]),
    ("flatten", [(1, 2), {"a": 1}, "xy"], (), [1, 2, "a", "xy"]),
    ("compare_dicts", {"a": 1, "z": 2}, ({"a": 2, "z": 2},), {"a": {"old": 1, "new": 2}}),
    ("compare_dicts", {"z": 2}, ({"b": 3},), {"z": {"old": 2, "new": ""}, "b": {"old": "", "new": 3}}),
    ("compare_dicts", None, (), {}),
    ("compare_lists", [1, 2, 3], ([2, 3, 4],), {"new": [4], "old": [1]}),
    ("compare_lists", [1], ([1],), {}),
    ("sorted_ignorecase", ["b", "A", "c", "B"], (), ["A", "b", "B", "c"]),
    ("substring_in_list", "foo", (["xfoob"],), True),
    ("substring_in_list", "foo", (["x"],), False),
    ("is_list", [1], (), True),
    ("is_list", (1,), (), False),
    ("is_iter", [1], (), True),
    ("is_iter", "ab", (), False),
    ("is_iter", "ab", ((),), True),
    ("is_iter", 5, (), False),
    ("exactly_n_true", [True, 0, 1], (2,), True),
    ("exactly_one_true", [True, 1], (), False),
    ("exactly_one_true", ["", "x"], (), True),
    ("to_entries", {"a": 1}, (), [{"key": "a", "value": 1}]),
    ("to_entries", ["x"], (), [{"key": 0, "value": "x"}]),
    ("from_entries", [{"key": "a", "value": 1}, {"Name": "b", "Value": 2}], (), {"a": 1, "b": 2}),
    ("from_entries", [{"key": "a"}, {"value": 1}, {"key": None, "value": 1}], (), {"a": None}),
    ("random_sample", [1, 2, 3, 4, 5], (3, "x"), [4, 3, 1]),
    ("random_shuffle", [1, 2, 3, 4, 5], ("static",), [4, 5, 2, 1, 3]),
    ("json_encode_dict", {"a": ["b", 1]}, (), {b"a": [b"b", 1]}),
    ("json_encode_list", ["a", ("é",)], {"encoding": "latin-1", "preserve_tuples": True}, [b"a", (b"\xe9",)]),
    ("json_decode_dict", {"a": "b"}, (), {b"a": b"b"}),
    ("json_decode_list", ["a"], (), [b"a"]),
    ("mysql_to_dict", TABLE, ("Id",), {5: {"Id": 5, "User": "root"}}),
    ("mysql_to_dict", ["no table"], ("Id",), {}),
    ("method_call", "a b", ("split", " "), ["a", "b"]),
    ("method_call", "a", ("no_such_method",), None),
    ("skip", {"anything": 1}, (), ""),
    ("set_dict_key_value", {"a": 1}, ("b:c", 2), {"a": 1, "b": {"c": 2}}),
    ("set_dict_key_value", {"a": 1}, ("a.b", 2, "."), {"a": {"b": 2}}),
    ("update_dict_key_value", {"a": {"x": 1}}, ("a", {"y": 2}), {"a": {"x": 1, "y": 2}}),
    ("update_dict_key_value", {}, ("a:b", {"y": 2}), {"a": {"b": {"y": 2}}}),
    ("append_dict_key_value", {"a": [1]}, ("a", 2), {"a": [1, 2]}),
    ("append_dict_key_value", {"a": None}, ("a", 2), {"a": [2]}),
    ("extend_dict_key_value", {"a": [1]}, ("a", [2, 3]), {"a": [1, 2, 3]}),
    ("extend_dict_key_value", {}, ("a:b", "xy"), {"a": {"b": ["x", "y"]}}),
    ("unique", [3, 1, 3, 2, 1], (), [3, 1, 2]),
    ("unique", [{"a": 1}, {"a": 1}, 2], (), [{"a": 1}, 2]),
    ("unique", "aab", (), ["a", "b"]),
    ("union", [1, 2, 2], ([2, 4],), [1, 2, 4]),
    ("intersect", [2, 1, 1, 2], ([1, 2, 3],), [2, 1]),
    ("difference", [1, 2, 3, 3], ([2],), [1, 3]),
    ("symmetric_difference", [[1], [2]], ([[2], [3]],), [[1], [3]]),
    ("min", [3, 1, 2], (), 1),
    ("max", "abc", (), "c"),
    ("avg", [1, 2, 3], (), 2.0),
    ("avg", 5, (), 5.0),
    ("sequence", "abc", (), ["abc"]),
    ("sequence", (1,), (), (1,)),
    ("sequence", None, (), [None]),
    ("regex_search", "abcd", ("b(c)(d)",), ("c", "d")),
    ("regex_search", "abcd", ("BC", True), ("bc",)),
    ("regex_search", "abcd", ("x",), None),
    ("regex_search", "a\nb", ("^(b)",), None),
    ("regex_search", "a\nb", ("^(b)", False, True), ("b",)),
    ("regex_match", "abcd", ("b(c)",), None),
    ("regex_match", "abcd", ("a(b)(x)?",), ("b", None)),
    ("regex_replace", "yes", ("(y)", r"\1z"), "yzes"),
    ("regex_replace", "aaa", ("A", "b", True), "bbb"),
    ("regex_replace", "aaa", {"rgx": "a", "val": "b", "count": 2}, "bba"),
    ("regex_escape", "a.b*c d", (), r"a\.b\*c\ d"),
    ("quote", "it's", (), "'it'\"'\"'s'"),
    ("quote", "", (), "''"),
    ("is_hex", "0xabcd", (), True),
    ("is_hex", "xyz", (), False),
    ("is_hex", None, (), False),
    ("contains_whitespace", "a\tb", (), True),
    ("contains_whitespace", "ab", (), False),
    ("to_camelcase", "some_snake_text", (), "someSnakeText"),
    ("to_camelcase", "some_snake_text", (True,), "SomeSnakeText"),
    ("to_snake_case", "someHTTPText", (), "some_http_text"),
    ("to_snake_case", "Abc2Def", (), "abc2_def"),
    ("check_whitelist_blacklist", "web1", (["web*"],), True),
    ("check_whitelist_blacklist", "web1", ("web[0-9]+",), True),
    ("check_whitelist_blacklist", "web1", (["*.conf"],), False),
    ("check_whitelist_blacklist", "web1", (["web1"], ["web*"]), False),
    ("check_whitelist_blacklist", "web1", ([], ["db*"]), True),
    ("indent", "a\n\nb", (2,), "a\n\n  b"),
    ("indent", "a\nb", {"width": ">", "indentfirst": True}, ">a\n>b"),
    ("to_bool", "Yes", (), True),
    ("to_bool", "on", (), False),
    ("to_bool", 0, (), False),
    ("to_bool", [1], (), True),
    ("to_bool", None, (), False),
    ("to_num", "5", (), 5),
    ("to_num", "5.5", (), 5.5),
    ("to_num", "x", (), "x"),
    ("str_to_num", " 5 ", (), 5),
    ("to_bytes", "é", ("latin-1",), b"\xe9"),
    ("to_bytes", b"x", (), b"x"),
    ("human_to_bytes", "1.5G", (), 1610612736),
    ("human_to_bytes", "50GB", (), 50 * 1024**3),
    ("human_to_bytes", "50GB", {"handle_metric": True}, 50 * 1000**3),
    ("human_to_bytes", "50GiB", {"handle_metric": True}, 50 * 1024**3),
    ("human_to_bytes", "2", ("M",), 2097152),
    ("human_to_bytes", "1 kb", (), 1024),
    ("human_to_bytes", "1.5.2M", (), 0),
    ("human_to_bytes", "junk", (), 0),
    ("strftime", "2002/12/25", (), "2002-12-25"),
    ("strftime", "20021225", (), "2002-12-25"),
    ("strftime", "12/25/2002 1:05 PM", ("%H:%M",), "13:05"),
    ("strftime", "Wed, 25 Dec 2002 13:14:15", ("%d.%m.%Y",), "25.12.2002"),
    ("strftime", "2020-01-01T10:20:30Z", ("%H",), "10"),
    ("date_format", "2002-12-25 13:14", ("%H:%M",), "13:14"),
    ("md5", "random", (), "7ddf32e17a6ac5ce04a8ecbf782ca509"),
    ("sha1", b"random", (), "a415ab5cc17c8c093c015ccdb7e552aee7911aa4"),
    ("sha256", "random", (), "a441b15fe9a3cf56661190a0b93b9dec7d04127288cc87250967cf3b52894d11"),
    (
        "hmac_compute",
        "get salted",
        ("shared secret",),
        "78159ff5bb2d5e0f8d88fe403b0a690791ccbd989830fcc433d5b960c9bf0264",
    ),
    ("hmac", "get salted", ("shared secret", "eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ="), True),
    ("hmac", "get salted", ("shared secret", "x"), False),
    ("base64_encode", "é", (), "w6k="),
    ("base64_decode", "c2FsdA==", (), "salt"),
    ("base64_decode", "/w==", (), b"\xff"),
    ("uuid", "random", (), "3652b285-26ad-588e-a5dc-c2ee65edc804"),
    ("yaml_dquote", 'say "hi"\n', (), '"say \\"hi\\"\\n"'),
    ("yaml_dquote", LONG, (), f'"{LONG}"'),
    ("yaml_squote", "it's", (), "'it''s'"),
    ("yaml_encode", "yes", (), '"yes"'),
    ("yaml_encode", True, (), "true"),
    ("yaml_encode", None, (), "null"),
    ("yaml_encode", 1.5, (), "1.5"),
    ("yaml", {"b": 1, "a": [1, {"x": None}]}, (), "{a: [1, {x: null}], b: 1}"),
    ("yaml", {"b": 1, "a": ["yes"]}, (False,), "a:\n- 'yes'\nb: 1"),
    ("yaml", "é", (), "é"),
    ("yaml", (1, 2), (), "[1, 2]"),
    ("json", {"b": 1, "a": ["é<"]}, (), '{"a": ["é<"], "b": 1}'),
    ("json", {"b": 1, "a": 2}, (False,), '{"b": 1, "a": 2}'),
    ("json", {"a": [1]}, {"indent": 1}, '{\n "a": [\n  1\n ]\n}'),
    ("json", {1: 2, "a": 3}, (), '{"1": 2, "a": 3}'),
    ("tojson", {"b": "<&>'é"}, (), '{"b": "\\u003c\\u0026\\u003e\\u0027\\u00e9"}'),
    ("tojson", [1], (1,), "[\n 1\n]"),
    ("python", {"b": None, "a": "x"}, (), "{'a': 'x', 'b': None}"),
    (
        "xml",
        {"r": {"d": "e<", "f": {"g": "h"}}},
        (),
        '<?xml version="1.0" ?>\n<r d="e&lt;">\n <f g="h"/>\n</r>\n',
    ),
    ("xml", {"r": {"a": [{"k": 1}, "t"]}}, (), '<?xml version="1.0" ?>\n<r>\n <a k="1"/>\n <a>t</a>\n</r>\n'),
    ("load_yaml", "a: [x, 0644]", (), {"a": ["x", 644]}),
    ("load_json", '{"a": [null]}', (), {"a": [None]}),
    ("load_text", "a: 1", (), "a: 1"),
    (
        "dict_to_sls_yaml_params",
        {"name": "x", "l": [1], "d": {"k": 1}},
        (),
        "- name: x\n- l:\n  - 1\n- d:\n    k: 1",
    ),
    ("dict_to_sls_yaml_params", {"name": "x"}, (True,), "[{name: x}]"),
    ("combinations", [1, 2, 3], (2,), [(1, 2), (1, 3), (2, 3)]),
    ("combinations_with_replacement", [1, 2], (2,), [(1, 1), (1, 2), (2, 2)]),
    ("compress", "abc", ([1, 0, 1],), ["a", "c"]),
    ("permutations", [1, 2], (), [(1, 2), (2, 1)]),
    ("product", [1, 2], ("a",), [(1, "a"), (2, "a")]),
    ("product", [1], {"repeat": 2}, [(1, 1)]),
    ("zip", [1, 2], ("abc",), [(1, "a"), (2, "b")]),
    ("zip_longest", [1], ("ab",), [(1, "a"), (None, "b")]),
    ("path_join", "/usr", ("/share/", "x"), "/usr/share/x"),
    ("path_join", "a/", ("../b",), "b"),
    ("path_join", "", (), "."),
    ("mac_str_to_bytes", "00-11-22-33-44-55", (), bytes.fromhex("001122334455")),
]

PROBLEMS: list[tuple[str, Any, Any, str]] = [
    ("json_query", {}, ("hosts[",), "wrong JMESPath expression"),
    ("to_entries", "abc", (), "needs a mapping or a list"),
    ("from_entries", "x", (), "needs a list of entries"),
    ("update_dict_key_value", {"a": 1}, ("a", {}), "there is a value of type int"),
    ("update_dict_key_value", {"a": {}}, ("a", "x"), "cannot be updated"),
    ("append_dict_key_value", {"a": "x"}, ("a", 1), "not a list"),
    ("extend_dict_key_value", {"a": []}, ("a", 1), "cannot be extended"),
    ("set_dict_key_value", {}, (5, 1), "the path must be text"),
    ("unique", None, (), "needs a list"),
    ("avg", [], (), "the list is empty"),
    ("regex_search", "x", ("(",), "wrong pattern"),
    ("regex_replace", "x", ("x", r"\9"), "wrong replacement"),
    ("regex_match", 5, ("x",), "expected string"),
    ("check_whitelist_blacklist", "x", (5,), "must be a list"),
    ("md5", 5, (), "needs text or bytes"),
    ("uuid", 5, (), "needs text"),
    ("base64_decode", "abc", (), "not base64"),
    ("strftime", "junk", (), "cannot read 'junk' as a date"),
    ("yaml_encode", [], (), "needs a single value"),
    ("json", {"a": b"x"}, (), "a value of type bytes"),
    ("yaml", {"a": object}, (), "a value of type type"),
    ("xml", {"a": 1, "b": 2}, (), "one key"),
    ("xml", {"not a name": 1}, (), "cannot be the name"),
    ("xml", {"a": [1]}, (), "several elements"),
    ("load_yaml", "a: [1", (), "not YAML"),
    ("load_yaml", "a: 1\na: 2", (), r"line 2, column 1 of the text"),
    ("load_json", "{", (), r"not JSON: .* \(line 1, column 2 of the text\)"),
    ("load_json", {}, (), "needs text"),
    ("dict_to_sls_yaml_params", [1], (), "needs a mapping"),
    ("path_join", "a", (5,), "must be text"),
    ("mac_str_to_bytes", "00:11", (), "not a MAC address"),
    ("method_call", "x", ("__class__",), "may not be called"),
    ("method_call", "{}", ("format", 1), "may not be called"),
    ("random_str", 5, {"digits": False}, "unexpected keyword argument 'digits'"),
]


def ask(name: str, value: Any, arguments: Any) -> Any:
    args, kwargs = ((), arguments) if isinstance(arguments, dict) else (arguments, {})
    answer = resolve(name)(value, *args, **kwargs)
    return list(answer) if isinstance(answer, Iterator) else answer


@pytest.mark.parametrize(("name", "value", "arguments", "answer"), ANSWERS)
def test_a_filter_answers_as_salt_does(name: str, value: Any, arguments: Any, answer: Any) -> None:
    given_answer = ask(name, value, arguments)
    assert given_answer == answer
    assert type(given_answer) is type(answer)


@pytest.mark.parametrize(("name", "value", "arguments", "message"), PROBLEMS)
def test_a_problem_names_the_filter_and_what_is_wrong(
    name: str, value: Any, arguments: Any, message: str
) -> None:
    with pytest.raises(TemplateRuntimeError, match=rf"(?s)^filter '{name}': .*{message}"):
        ask(name, value, arguments)


def test_seconds_since_1970_are_a_date() -> None:
    assert {ask("strftime", value, ()) for value in (1457456400, 1457456400.5, "1457456400")} == {
        "2016-03-08"
    }


def test_words_for_a_date_count_from_now() -> None:
    one, two, now = (int(ask("strftime", text, ("%s",))) for text in ("1 day ago", "+2 hours", None))
    assert 86390 < now - one < 86410
    assert 7190 < two - now < 7210
    assert ask("strftime", "tomorrow", ()) > ask("strftime", "now", ()) > ask("strftime", "yesterday", ())


def test_sha512_is_as_long_as_it_should_be() -> None:
    assert len(ask("sha512", "random", ())) == 128


def test_dict_filters_change_what_they_are_given() -> None:
    data = {"a": {"x": 1}}
    assert ask("set_dict_key_value", data, ("a:b", 2)) is data
    assert data == {"a": {"x": 1, "b": 2}}


def test_random_text_differs_and_has_the_length_asked_for() -> None:
    assert len(ask("random_str", 16, ())) == 16
    assert ask("random_str", 16, ()) != ask("random_str", 16, ())
    assert len(ask("random_hash", 9999999999, ())) == 32
    assert len(ask("rand_str", 9999999999, ("sha1",))) == 40


def test_a_list_that_contains_itself_is_an_error() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(TemplateRuntimeError, match="contains itself"):
        ask("flatten", endless, ())


@pytest.mark.parametrize(
    ("name", "value", "arguments", "answer"),
    [
        ("match", "abc", ("a",), True),
        ("match", "abc", ("b",), False),
        ("match", "abc", ("A", True), True),
        ("equalto", [1], ([1],), True),
        ("list", [1], (), True),
        ("list", (1,), (), False),
    ],
)
def test_a_test_answers_as_salt_does(name: str, value: Any, arguments: Any, answer: bool) -> None:
    assert resolve_test(name)(value, *arguments) is answer


@pytest.mark.parametrize("name", FILTERS)
def test_every_filter_can_be_loaded(name: str) -> None:
    assert callable(resolve(name))


@pytest.mark.parametrize("name", TESTS)
def test_every_test_can_be_loaded(name: str) -> None:
    assert callable(resolve_test(name))


members = st.lists(st.integers(0, 9) | st.lists(st.integers(0, 2), max_size=2), max_size=12)


@given(members)
def test_unique_twice_is_unique_once(values: list[Any]) -> None:
    once = ask("unique", values, ())
    assert ask("unique", once, ()) == once
    assert all(value in once for value in values)


@given(members, members)
def test_the_parts_of_two_lists_make_up_their_union(one: list[Any], two: list[Any]) -> None:
    both = ask("union", one, (two,))
    parts = [*ask("difference", one, (two,)), *ask("intersect", one, (two,)), *ask("difference", two, (one,))]
    assert sorted(parts, key=repr) == sorted(both, key=repr)
    assert ask("symmetric_difference", one, (two,)) == ask(
        "difference", both, (ask("intersect", one, (two,)),)
    )


@given(st.binary())
def test_base64_reads_back_what_it_wrote(data: bytes) -> None:
    back = ask("base64_decode", ask("base64_encode", data, ()), ())
    assert (back.encode() if isinstance(back, str) else back) == data


@given(st.dictionaries(st.text(min_size=1), st.integers()))
def test_entries_make_the_mapping_they_came_from(data: dict[str, int]) -> None:
    assert ask("from_entries", ask("to_entries", data, ()), ()) == data


@given(st.from_regex(r"[a-z]+(_[a-z]+)*", fullmatch=True))
def test_camel_case_and_back_is_where_we_started(name: str) -> None:
    if all(len(part) > 1 for part in name.split("_")):
        assert ask("to_snake_case", ask("to_camelcase", name, ()), ()) == name


@given(st.text())
def test_a_quoted_word_is_one_word_to_a_shell(word: str) -> None:
    import shlex

    assert shlex.split(ask("quote", word, ())) == [word]
