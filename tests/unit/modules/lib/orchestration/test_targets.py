"""``tgt`` and ``tgt_type`` as one compound target: it means the same systems."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from saltern.modules.api.refused import Refused
from saltern.modules.lib.orchestration.targets import KINDS, compound
from saltern.targeting.match import Subject, matches

names = st.text("abwG@L1-. ", min_size=1, max_size=8).map(str.strip).filter(bool)
globs = st.text("abwG@L1-. *?", min_size=1, max_size=8).map(str.strip).filter(bool)
patterns = st.sampled_from((r"web\d+", "a.*", r"web\ [12]", "a b", "[ab]+", "G@.*", "^w", "(web|db) 1"))


@given(names, globs)
def test_a_glob(system: str, target: str) -> None:
    assert _means(target, "glob", system) == matches(Subject(id=system), target, "glob")


@given(names, patterns)
def test_a_regular_expression(system: str, target: str) -> None:
    assert _means(target, "pcre", system) == matches(Subject(id=system), target, "pcre")


@given(names, st.lists(names.filter(lambda name: "," not in name), min_size=1, max_size=3), st.booleans())
def test_a_list(system: str, target: list[str], as_text: bool) -> None:
    given_as = ",".join(target) if as_text else target
    assert _means(given_as, "list", system) == (system in target)


@given(names, st.text("abw1 -", min_size=1, max_size=6), globs)
def test_a_grain(system: str, value: str, wanted: str) -> None:
    assume(":" not in wanted)
    subject = Subject(id=system, grains={"os": value}, pillar={"os": value})
    for kind in ("grain", "pillar"):
        expected = matches(subject, f"os:{wanted}", kind)
        assert matches(subject, compound(f"os:{wanted}", kind)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_a_target_that_is_empty_or_no_text_is_refused(kind: str) -> None:
    for target in ("", "  ", None, {"a": 1}, True):
        with pytest.raises(Refused):
            assert compound(target, kind) not in ("", "L@")


def test_an_id_of_digits_is_an_id() -> None:
    assert compound(42) == "42"


def test_a_kind_that_does_not_exist_is_named() -> None:
    with pytest.raises(Refused, match=re.escape("tgt_type cannot be 'globe'; it must be one of glob, list")):
        compound("web*", "globe")


def _means(target: object, kind: str, system: str) -> bool:
    return matches(Subject(id=system), compound(target, kind))
