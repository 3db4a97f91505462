"""Whose keys keep their order when a template writes them; every answer is that of Salt 3008.3."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import kit

from saltern.language.merge import MERGES, merge
from saltern.language.ordered import Ordered, order_mappings, plain_mappings
from saltern.modules.lib.nested_data import fresh
from saltern.render.filters.serialize import load_yaml, to_python, to_yaml

PILLAR = """\
data:
  zeta: 1
  alpha: {y: 1, x: [{q: 1, b: 2}]}
lone: {zz: 1, aa: {zz: 1, aa: 2}}
"""
MORE = "data: {beta: 3, alpha: {a: 1}}\n"
IN_ORDER = "{zeta: 1, alpha: {y: 1, x: [{q: 1, b: 2}], a: 1}, beta: 3}"
SORTED = "{alpha: {x: [{b: 2, q: 1}], y: 1}, zeta: 1}"
LONE = "{zz: 1, aa: {zz: 1, aa: 2}}"
LITERAL = "{'zeta': 1, 'alpha': {'y': 1, 'x': [{'q': 1, 'b': 2}]}}"

WRITTEN = {
    "pillar['data']": IN_ORDER,
    "pillar['data'].copy()": IN_ORDER,
    "salt['pillar.get']('data')": IN_ORDER,
    "salt['pillar.get']('data:alpha')": "{y: 1, x: [{q: 1, b: 2}], a: 1}",
    "salt['pillar.items']()['data']": IN_ORDER,
    "salt['pillar.raw']('data')": IN_ORDER,
    "salt['config.get']('data')": IN_ORDER,
    "salt['config.get']('lone', merge='recurse')": LONE,
    "salt['config.merge']('lone')": LONE,
    "salt['pillar.get']('lone', {'z9': 1, 'a9': 2, 'aa': {'q': 1}}, merge=True)": (
        "{a9: 2, aa: {aa: 2, q: 1, zz: 1}, z9: 1, zz: 1}"
    ),
    "salt['pillar.get']('nothing', {'z9': 1, 'a9': 2})": "{a9: 2, z9: 1}",
    "salt['slsutil.renderer'](string='{z: 1, b: {z: 1, a: 2}}')": "{z: 1, b: {z: 1, a: 2}}",
    "salt['slsutil.merge'](pillar['lone'], {'q': {'z': 1, 'b': 2}})": (
        "{zz: 1, aa: {zz: 1, aa: 2}, q: {b: 2, z: 1}}"
    ),
    "salt['slsutil.merge']({'q': 1, 'b': 2}, pillar['lone'])": "{aa: {zz: 1, aa: 2}, b: 2, q: 1, zz: 1}",
    "salt['defaults.merge']({'q': 1, 'b': 2}, pillar['lone'])": "{aa: {zz: 1, aa: 2}, b: 2, q: 1, zz: 1}",
    "salt['defaults.deepcopy'](pillar['lone'])": LONE,
    "salt['grains.filter_by']({'default': {'z': 1, 'b': pillar['lone']}}, grain='none')": (
        "{b: {zz: 1, aa: {zz: 1, aa: 2}}, z: 1}"
    ),
    "pillar | traverse('lone:aa')": "{zz: 1, aa: 2}",
    "dict(pillar['lone'])": "{aa: {zz: 1, aa: 2}, zz: 1}",
    "[pillar['lone'], {'b': 1, 'a': 2}]": "[{zz: 1, aa: {zz: 1, aa: 2}}, {a: 2, b: 1}]",
    LITERAL: SORTED,
    f'"{LITERAL}" | load_yaml': SORTED,
    "salt['slsutil.deserialize']('yaml', '{z: 1, a: 2}')": "{a: 2, z: 1}",
    "opts['cfg']": "{alpha: 2, zeta: 1}",
    "salt['config.get']('cfg')": "{alpha: 2, zeta: 1}",
    "grains['own']": "{alpha: 2, zeta: 1}",
}


def written(expression: str, how: str = "yaml") -> object:
    files = {
        "main.sls": f"x:\n  test.nop:\n    - text: {{{{ ({expression} | {how}) | json }}}}\n",
        "pillar/top.sls": "base: {'*': [one, more]}\n",
        "pillar/one.sls": PILLAR,
        "pillar/more.sls": MORE,
    }
    config = {"extra": {"cfg": {"zeta": 1, "alpha": 2}}}
    return kit.low(files, config=config, grains={"own": {"zeta": 1, "alpha": 2}})[0]["text"]


@pytest.mark.parametrize("expression", WRITTEN)
def test_yaml_keeps_the_order_of_what_a_renderer_made_and_sorts_the_rest(expression: str) -> None:
    assert written(expression) == WRITTEN[expression]


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("yaml(False)", "zz: 1\naa:\n  zz: 1\n  aa: 2"),
        ("dict_to_sls_yaml_params", "- zz: 1\n- aa:\n    zz: 1\n    aa: 2"),
        ("json", '{"aa": {"aa": 2, "zz": 1}, "zz": 1}'),
        ("json(sort_keys=False)", '{"zz": 1, "aa": {"zz": 1, "aa": 2}}'),
        ("tojson", '{"zz": 1, "aa": {"zz": 1, "aa": 2}}'),
        ("python", "{'zz': 1, 'aa': {'zz': 1, 'aa': 2}}"),
        ("pprint", "{'zz': 1, 'aa': {'zz': 1, 'aa': 2}}"),
        ("string", "{'zz': 1, 'aa': {'zz': 1, 'aa': 2}}"),
    ],
)
def test_every_way_to_write_pillar(how: str, text: str) -> None:
    assert written("pillar['lone']", how) == text


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("salt['slsutil.serialize']('yaml', pillar['lone'])", "aa: {aa: 2, zz: 1}\nzz: 1"),
        (
            "salt['slsutil.serialize']('yaml', pillar['lone'], sort_keys=False, default_flow_style=False)",
            "zz: 1\naa:\n  zz: 1\n  aa: 2",
        ),
        ("salt['slsutil.serialize']('json', pillar['lone'])", '{"zz": 1, "aa": {"zz": 1, "aa": 2}}'),
    ],
)
def test_slsutil_serialize_sorts_as_its_options_say(call: str, text: str) -> None:
    assert written(call, "string") == text


def test_the_context_of_a_managed_file_keeps_the_order_of_the_sls(tmp_path: Path) -> None:
    files = {
        "main.sls": f"{tmp_path}/f:\n  file.managed:\n    - template: jinja\n    - contents: '{{% raw %}}"
        "{{ given | yaml }}{% endraw %}'\n    - context: {given: {z: 1, a: {z: 1, b: 2}}}\n",
    }
    assert kit.run_sls(files).answers[0].result.changed
    assert (tmp_path / "f").read_text() == "{z: 1, a: {z: 1, b: 2}}\n"


trees = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="ascii", min_codepoint=33), min_size=1), inner)
    ),
)
mappings = st.dictionaries(st.text(max_size=3), trees, max_size=4)


def keys(value: object) -> object:
    """The keys of every mapping, in their order."""
    if isinstance(value, dict):
        return [(key, keys(inner)) for key, inner in value.items()]
    return [keys(inner) for inner in value] if isinstance(value, list) else None


@given(trees)
def test_ordered_data_reads_back_with_its_keys_in_order(value: object) -> None:
    text = to_yaml(order_mappings(value), None)
    assert keys(load_yaml(text)) == keys(value)


@given(trees)
def test_ordered_data_is_equal_to_plain_data_and_copies_keep_what_it_is(value: object) -> None:
    assert fresh(order_mappings(value)) == value == plain_mappings(order_mappings(value))
    assert to_yaml(fresh(order_mappings(value)), False) == to_yaml(order_mappings(value), False)
    assert to_yaml(plain_mappings(order_mappings(value)), False) == to_yaml(value, False)


@given(mappings, mappings, st.sampled_from(sorted(MERGES)))
def test_what_is_merged_is_of_the_kind_of_what_was_below(below: object, above: object, strategy: str) -> None:
    assert isinstance(merge(order_mappings(below), above, strategy=strategy), Ordered)
    assert not isinstance(merge(below, order_mappings(above), strategy=strategy), Ordered)


def test_python_sorts_literals_only() -> None:
    assert to_python({"b": 1, "a": Ordered(z=1, y={"d": 1, "c": 2})}) == (
        "{'a': {'z': 1, 'y': {'c': 2, 'd': 1}}, 'b': 1}"
    )
