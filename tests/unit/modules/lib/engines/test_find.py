"""Where an engine's program is looked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.modules.bench import Bench

from saltern.modules.api.refused import Refused
from saltern.modules.lib.engines.find import find
from saltern.modules.states import exec as module


def look(base: Path, extra: Mapping[str, object] | None = None, bin_dir: str | None = None) -> str:
    bench = Bench(base, module)
    bench.run.settings = replace(bench.run.settings, extra=dict(extra or {}))
    return find(bench.context(), "engine", engine="some", install="apt install engine", bin_dir=bin_dir)


def program(place: Path) -> str:
    place.mkdir(parents=True, exist_ok=True)
    file = place / "engine"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return str(file)


def test_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = program(tmp_path / "b")
    monkeypatch.setenv("PATH", f"{tmp_path}/a:{tmp_path}/b")
    assert look(tmp_path) == wanted


@pytest.mark.parametrize("place", ["", "/bin", "/bin/engine"])
def test_where_the_configuration_says_a_directory_an_environment_or_the_program(
    tmp_path: Path, place: str
) -> None:
    wanted = program(tmp_path / "venv" / "bin")
    assert look(tmp_path, {"engines": {"some": f"{tmp_path}/venv{place}"}}) == wanted


def test_the_state_knows_better_than_the_configuration(tmp_path: Path) -> None:
    program(tmp_path / "a")
    wanted = program(tmp_path / "b")
    assert look(tmp_path, {"engines": {"some": f"{tmp_path}/a"}}, bin_dir=f"{tmp_path}/b") == wanted


def test_a_missing_one_says_what_to_install_and_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(Refused) as found:
        look(tmp_path)
    assert "engine was not found on PATH: install it (apt install engine)" in str(found.value)
    assert "engines: {some: DIRECTORY}" in str(found.value)
    assert found.value.data == {"engine": "some", "program": "engine"}


def test_a_place_that_was_named_and_has_it_not_is_no_reason_to_look_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "b")
    monkeypatch.setenv("PATH", f"{tmp_path}/b")
    with pytest.raises(Refused, match="not found in /nowhere"):
        look(tmp_path, bin_dir="/nowhere")


def test_the_list_that_salt_has_under_this_name_means_nothing(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="not found on PATH"):
        look(tmp_path, {"engines": [{"logstash": {}}]})
