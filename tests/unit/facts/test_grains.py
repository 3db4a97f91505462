from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from saltern.config.settings import Settings
from saltern.facts.grains import GROUPS, Grains, Group, collect
from saltern.language.diagnostics import OperationError

SETTINGS = Settings(id="web1")


def test_every_group_finds_only_what_it_declares() -> None:
    for group in GROUPS:
        found = group.collect(SETTINGS)
        assert set(found) <= set(group.names), group.look


def test_no_grain_is_declared_twice() -> None:
    names = [name for group in GROUPS for name in group.names]
    assert len(names) == len(set(names))


def test_a_single_question_takes_a_single_look() -> None:
    grains = collect(SETTINGS)
    assert grains["kernel"]
    assert dict.__contains__(grains, "nodename")
    assert not dict.__contains__(grains, "os")


def test_a_name_no_group_declares_takes_no_look() -> None:
    grains = collect(SETTINGS)
    assert "frob" not in grains
    assert grains.get("frob", 7) == 7
    with pytest.raises(KeyError):
        grains["frob"]
    assert dict.__len__(grains) == 2  # id and master


def test_everything_that_reads_all_sees_all() -> None:
    full = {name for group in GROUPS for name in group.collect(SETTINGS)}
    assert set(collect(SETTINGS)) == full
    assert set(collect(SETTINGS).keys()) == full
    assert len(collect(SETTINGS)) == len(full)
    assert len(collect(SETTINGS).items()) == len(full)
    assert len(collect(SETTINGS).values()) == len(full)
    assert set(dict(collect(SETTINGS))) == full
    assert set({**collect(SETTINGS)}) == full
    assert set(collect(SETTINGS) | {"x": 1}) == full | {"x"}
    assert set(json.loads(json.dumps(collect(SETTINGS)))) == full
    assert set(copy.deepcopy(collect(SETTINGS))) == full
    assert set(copy.copy(collect(SETTINGS))) == full
    assert set(pickle.loads(pickle.dumps(collect(SETTINGS)))) == full
    assert "kernelrelease" in repr(collect(SETTINGS))
    assert collect(SETTINGS) == collect(SETTINGS)
    assert collect(SETTINGS) != {}
    assert bool(collect(SETTINGS))


def test_what_is_set_by_hand_stays_until_the_next_refresh() -> None:
    grains = collect(SETTINGS)
    grains["os"] = "Frob"
    assert grains["os_family"]
    assert grains["os"] == "Frob"
    grains.refresh()
    assert grains["os"] != "Frob"


def test_what_is_deleted_does_not_come_back() -> None:
    grains = collect(SETTINGS)
    del grains["os"]
    assert "os" not in grains
    assert grains.pop("kernel") == "Linux"
    assert grains.pop("kernel", "none") == "none"
    assert "kernel" not in list(grains)


def test_given_grains_win_over_files_these_over_configuration_that_over_detection(tmp_path: Path) -> None:
    file = tmp_path / "grains"
    file.write_text("a: file\nb: file\nos: FileOS\n")
    settings = Settings(grains={"a": "config", "c": "config", "os": "ConfigOS"}, grains_file=str(file))
    grains = collect(settings, {"a": "given"})
    assert (grains["a"], grains["b"], grains["c"], grains["os"]) == ("given", "file", "config", "FileOS")


def test_a_grains_file_beside_the_configuration_is_read_again_on_refresh(tmp_path: Path) -> None:
    (tmp_path / "grains").write_text("role: web\n")
    grains = collect(Settings(files=[str(tmp_path / "minion")]))
    assert grains["role"] == "web"
    (tmp_path / "grains").write_text("role: db\n")
    grains.refresh()
    assert grains.get("role") == "db"


def test_a_broken_grains_file_is_reported_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "grains"
    file.write_text("a: 1\nb: [\n")
    with pytest.raises(OperationError, match=r"grains:3"):
        collect(Settings(grains_file=str(file)))
    file.unlink()
    file.mkdir()
    with pytest.raises(OperationError, match="cannot read"):
        collect(Settings(grains_file=str(file)))


def test_a_grains_file_that_is_not_there_yet_is_empty(tmp_path: Path) -> None:
    assert "role" not in collect(Settings(grains_file=str(tmp_path / "none")))


def test_a_look_that_fails_finds_nothing_and_harms_nothing() -> None:
    group = Group("core.nonsense", ("os", "ipv4", "dns"))
    grains = Grains(SETTINGS, dict, (group, GROUPS[0]))
    assert (grains["os"], grains["ipv4"], grains["dns"]) == ("", [], {})
    assert grains["id"] == "web1"


def test_the_id_is_the_configured_one() -> None:
    assert collect(SETTINGS)["id"] == "web1"


def test_the_first_grains_load_nothing_heavy() -> None:
    heavy = ("yaml", "subprocess", "socket", "json", "hashlib", "psutil", "logging", "threading", "asyncio")
    code = (
        "import sys; from saltern.config.settings import Settings\n"
        "from saltern.facts.grains import collect\n"
        "before = set(sys.modules)\n"
        "g = collect(Settings()); g['os'], g['kernel'], g['num_cpus'], g['os_family']\n"
        f"print(sorted((set(sys.modules) - before) & set({heavy!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
