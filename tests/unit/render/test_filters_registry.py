"""How filters and tests reach a template."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from jinja2 import StrictUndefined, TemplateRuntimeError, TemplateSyntaxError
from jinja2.sandbox import SandboxedEnvironment

from saltern.render.filters import FILTERS, IMPURE, TESTS, LazyFilters, LazyTests

# What the description of the language lists.
PROMISED = """
    pprint
    yaml json python xml load_yaml load_json load_text dict_to_sls_yaml_params combinations
    combinations_with_replacement compress permutations product zip zip_longest
    traverse json_query flatten compare_dicts compare_lists json_decode_dict json_decode_list
    json_encode_dict json_encode_list sorted_ignorecase substring_in_list is_list is_iter exactly_n_true
    exactly_one_true mysql_to_dict to_entries from_entries random_sample random_shuffle set_dict_key_value
    update_dict_key_value append_dict_key_value extend_dict_key_value
    unique union intersect difference symmetric_difference min max avg sequence
    regex_search regex_match regex_replace regex_escape quote to_bool to_num str_to_num to_bytes is_hex
    contains_whitespace human_to_bytes to_camelcase to_snake_case random_str check_whitelist_blacklist skip
    uuid method_call strftime date_format indent tojson
    md5 sha1 sha256 sha512 hmac hmac_compute base64_encode base64_decode random_hash rand_str file_hashsum
    yaml_encode yaml_dquote yaml_squote
    is_ip is_ipv4 is_ipv6 ipaddr ipv4 ipv6 ip_host network_hosts network_size network_subnets nth_host
    cidr_merge cidr_to_ipv4_netmask filter_by_networks ipwrap ip_to_int int_to_ipv4 int_to_ipv6 slaac gen_mac
    mac_str_to_bytes dns_check http_query
    is_empty is_text_file is_bin_file list_files path_join which get_uid
"""


def environment() -> SandboxedEnvironment:
    made = SandboxedEnvironment(undefined=StrictUndefined)
    made.filters = LazyFilters(made.filters)
    made.tests = LazyTests(made.tests)
    return made


def render(text: str, **values: Any) -> str:
    return environment().from_string(text).render(**values)


def test_every_filter_of_the_language_is_there() -> None:
    assert set(FILTERS) == set(PROMISED.split())
    assert set(TESTS) == {"match", "equalto", "list"}
    assert FILTERS.keys() >= IMPURE


def test_a_filter_is_made_when_first_asked_for() -> None:
    filters = LazyFilters({"upper": str.upper})
    assert "md5" in filters
    assert "md5" in list(filters)
    assert filters.get("no_such_filter") is None
    assert filters["md5"]("a") == filters.get("md5")("a") == "0cc175b9c0f1b6a831c399e269772661"
    assert filters["md5"] is filters["md5"]
    assert filters["upper"] is str.upper
    with pytest.raises(KeyError):
        filters["no_such_filter"]


def test_a_look_at_all_filters_shows_functions_only() -> None:
    filters = LazyFilters({"upper": str.upper})
    assert all(map(callable, filters.values()))
    assert dict(filters.items()).keys() == {"upper", *FILTERS}


def test_ours_stand_over_those_of_jinja() -> None:
    assert render("{{ ['A', 'a'] | unique }}") == "['A', 'a']"
    assert render("{{ (1, 2) is list }} {{ [1] is list }}") == "False True"
    assert render("{{ 'x' | upper }}") == "X"


def test_filters_and_tests_work_within_others() -> None:
    assert render("{{ ['ab', 'cd'] | select('match', 'a') | map('to_camelcase') | list }}") == "['ab']"
    assert render("{{ [4, 5] | map('random_str') | map('length') | list }}") == "[4, 5]"
    assert render("{{ values | map('regex_replace', 'a', 'b') | join }}", values=["a", "ca"]) == "bcb"


def test_what_may_change_is_asked_at_each_render() -> None:
    template = environment().from_string("{{ 24 | random_str }}")
    assert template.render() != template.render()


def test_what_cannot_change_is_computed_when_compiled() -> None:
    assert "0cc175b9c0f1b6a831c399e269772661" in str(environment().compile("{{ 'a' | md5 }}", raw=True))


def test_a_problem_in_a_template_names_the_filter() -> None:
    with pytest.raises(TemplateRuntimeError, match="filter 'regex_search': wrong pattern"):
        render("{{ 'x' | regex_search('(') }}")
    with pytest.raises(TemplateRuntimeError, match="test 'match': wrong pattern"):
        render("{{ 'x' is match('(') }}")
    with pytest.raises(TemplateSyntaxError, match="No filter named 'no_such'"):
        render("{{ 'x' | no_such }}")


def test_naming_the_filters_imports_none_of_them() -> None:
    script = (
        "import sys, saltern.render.filters\n"
        "ours = ('saltern.render.filters.', 'jinja2')\n"
        "print(*(name for name in sys.modules if name.startswith(ours)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert ran.stdout.strip() == ""
