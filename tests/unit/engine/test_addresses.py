"""``sdb://`` addresses are found wherever they stand, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.config.settings import Settings
from saltern.engine.addresses import has_address, option_values, without_addresses
from saltern.language.diagnostics import OperationError, PillarError
from saltern.language.source import Mark

plain: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text().filter(lambda text: not text.startswith("sdb://")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(plain)
def test_data_without_an_address_stays_the_very_same(data: object) -> None:
    assert not has_address(data)
    pillar = {"key": data}
    assert without_addresses(pillar, {}, {}) is pillar
    assert option_values(Settings(extra=pillar), {}) == {}


@given(plain, st.sampled_from([lambda text: [text], lambda text: {"a": text}, lambda text: {"a": [[text]]}]))
def test_an_address_is_found_at_any_depth(data: object, around: Any) -> None:
    assert has_address({"first": data, "second": around("sdb://store/key")})


def test_an_address_that_has_no_value_is_an_error_that_names_the_place(tmp_path: Path) -> None:
    opts = {"store": {"driver": "sqlite3", "database": "/nowhere"}}
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/data.sls").write_text("a: 1\n\nkey: sdb://store/key?x\n")
    (tmp_path / "saltern.yaml").write_text("a:\n  - 1\n  - b: c\n    key: sdb://store/key?x\n")
    with pytest.raises(PillarError) as wrong:
        without_addresses({"key": "sdb://store/key?x"}, opts, {"base": [str(tmp_path)]})
    (problem,) = wrong.value.diagnostics
    assert problem.what.startswith(
        "the address sdb://store/key in the pillar has no value: there is no database"
    )
    assert problem.where == Mark(str(tmp_path / "sub/data.sls"), 3)
    extra: dict[str, object] = {"a": [1, {"b": "c", "key": "sdb://store/key?x"}]}
    with pytest.raises(OperationError, match=r"in the configuration has no value") as refused:
        option_values(Settings(extra=extra, files=[str(tmp_path / "saltern.yaml")]), opts)
    where = refused.value.diagnostics[0].where
    assert where is not None
    assert (where.file, where.line) == (str(tmp_path / "saltern.yaml"), 4)


def test_addresses_have_the_values_of_their_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SALTERN_TEST_WORD", "blue")
    opts = {"store": {"driver": "env"}}
    pillar = {"a": ["sdb://store/SALTERN_TEST_WORD"], "b": 1}
    assert without_addresses(pillar, opts, {}) == {"a": ["blue"], "b": 1}
    assert option_values(Settings(extra={"word": "sdb://store/SALTERN_TEST_WORD"}), opts) == {"word": "blue"}
