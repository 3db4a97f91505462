"""Versions as rpm orders them, and conditions on versions."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saltern.modules.api.params import BadArgument
from saltern.modules.lib.packages.versions import conditions, fulfils, rpm_compare


@pytest.mark.parametrize(
    ("one", "other", "order"),
    [
        ("1.0", "1.0", 0),
        ("1.0-1", "1.0", 0),
        ("1.0-2", "1.0-1", 1),
        ("1.10", "1.9", 1),
        ("1.0~rc1", "1.0", -1),
        ("1.0^git1", "1.0", 1),
        ("1.0^git1", "1.0.1", -1),
        ("1.0a", "1.0", 1),
        ("1.0a", "1.01", -1),
        ("1:0.1", "9", 1),
        ("0:1.0", "1.0", 0),
        ("1.001", "1.1", 0),
        ("2.el9", "2.el10", -1),
        ("1.0-rc1-2", "1.0-rc1-1", 1),
        ("x:1.0", "x:1.1", -1),
        (":1.0", "1.0", 0),
    ],
)
def test_rpm_orders_versions_so(one: str, other: str, order: int) -> None:
    assert rpm_compare(one, other) == order
    assert rpm_compare(other, one) == -order


@pytest.mark.parametrize(
    ("version", "wanted", "so"),
    [
        ("1.5", ">=1.2,<2", True),
        ("2.0", ">=1.2,<2", False),
        ("1.5", "1.*", True),
        ("1.5", "= 1.5", True),
        ("1.5", "<>1.5", False),
        ("3:1.5", "1.5", True),
        ("3:1.5", "2:1.5", False),
    ],
)
def test_a_version_fulfils_conditions(version: str, wanted: str, so: bool) -> None:
    assert fulfils(version, conditions(wanted, "aa"), rpm_compare) is so


@pytest.mark.parametrize("text", ["", ">=", "1 2", ">=1,", "=>1"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(BadArgument, match="is not a version of aa"):
        conditions(text, "aa")


PIECES = st.lists(
    st.sampled_from(["0", "1", "9", "10", "010", "a", "b", "rc", ".", "~", "^", "_", "+"]), max_size=7
)


@pytest.mark.skipif(shutil.which("rpm") is None, reason="needs rpm")
@given(st.lists(st.tuples(PIECES, PIECES), min_size=1, max_size=40))
@settings(max_examples=15, deadline=None)
def test_versions_are_ordered_as_rpm_itself_orders_them(pairs: list[tuple[list[str], list[str]]]) -> None:
    labels = [("1" + "".join(one), "1" + "".join(other)) for one, other in pairs]
    calls = "".join(f"print(rpm.vercmp('{one}', '{other}')..'\\n')" for one, other in labels)
    ran = subprocess.run(["rpm", "--eval", f"%{{lua:{calls}}}"], capture_output=True, text=True, check=True)
    assert [rpm_compare(one, other) for one, other in labels] == [int(row) for row in ran.stdout.split()]
