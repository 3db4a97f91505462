"""``file.serialize``, ``patch``, ``decode``, ``mknod``, ``tidied``, ``pruned``, ``cached``."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from saltern.language.result import Outcome
from saltern.modules.api.registry import Registry, schema
from saltern.modules.lib.files.walk import below
from saltern.modules.states import file
from saltern.modules.states.file.cached import cached, not_cached
from saltern.modules.states.file.decode import decode
from saltern.modules.states.file.mknod import mknod
from saltern.modules.states.file.patch import patch
from saltern.modules.states.file.pruned import pruned
from saltern.modules.states.file.retention import retention_schedule
from saltern.modules.states.file.serialize import serialize
from saltern.modules.states.file.tidied import tidied

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

PATCH = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"


def test_every_name_of_the_table_is_a_state_with_a_manual() -> None:
    registry = Registry()
    for name in file.LAZY:
        found = registry.state("file", name)
        assert found is not None, name
        assert found.doc
        assert schema(found) is not None


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"serializer": "json"}, '{\n  "a": [\n    1,\n    2\n  ],\n  "b": 1\n}\n'),
        (
            {"formatter": "json", "serializer_opts": [{"indent": None}, {"sort_keys": False}]},
            '{"b": 1,"a": [1,2]}\n',
        ),
        ({}, "a:\n- 1\n- 2\nb: 1\n"),
        ({"serializer": "yaml", "serializer_opts": {"default_flow_style": True}}, "{a: [1, 2], b: 1}\n"),
        ({"serializer": "keyvalue"}, "b=1\na=[1, 2]\n"),
        ({"serializer": "python"}, "{'a': [1, 2], 'b': 1}\n"),
    ],
)
def test_data_is_written_in_many_formats(desk: Desk, args: dict[str, object], text: str) -> None:
    desk.change(serialize, desk.at("f"), dataset={"b": 1, "a": [1, 2]}, **args)
    assert desk.text("f") == text


def test_toml_reads_back_as_it_was_written(desk: Desk) -> None:
    data = {"t": {"x y": 'a"b\\', "n": {"k": [1, 2.5, True]}}, "list": [{"a": 1}, {"a": 2}], "plain": "é\n"}
    desk.change(serialize, desk.at("f"), dataset=data, serializer="toml")
    assert tomllib.loads(desk.text("f")) == data


def test_data_is_merged_into_what_is_there(desk: Desk) -> None:
    desk.put("f", '{"x": 1, "b": {"q": 1}}')
    desk.pillar["conf"] = {"b": {"z": 2}}
    desk.change(serialize, desk.at("f"), dataset_pillar="conf", serializer="json", merge_if_exists=True)
    assert json.loads(desk.text("f")) == {"x": 1, "b": {"q": 1, "z": 2}}
    desk.put("f", '{"x":1}')
    desk.same(serialize, desk.at("f"), dataset={"x": 1}, serializer="json", merge_if_exists=True)
    desk.put("g", "{broken")
    args = {"dataset": {"a": 1}, "serializer": "json", "merge_if_exists": True}
    assert "cannot be read" in desk.refusal(serialize, desk.at("g"), **args)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"dataset": {}, "serializer": "nope"}, "no serializer"),
        ({}, "give dataset"),
        ({"dataset": {}, "dataset_pillar": "x"}, "either"),
        ({"dataset_pillar": "x"}, "does not exist"),
        ({"dataset": [1], "serializer": "configparser"}, "section"),
        ({"dataset": {"a": object()}, "serializer": "json"}, "cannot be written"),
        ({"dataset": {"a": 1}, "check_cmd": "false"}, "check_cmd"),
    ],
)
def test_data_that_cannot_be_written_is_reported(desk: Desk, args: dict[str, object], said: str) -> None:
    assert said in desk.refusal(serialize, desk.at("f"), **args)


@pytest.mark.skipif(not shutil.which("patch"), reason="needs patch")
def test_a_patch_is_applied_once(desk: Desk) -> None:
    url = desk.source("p", PATCH)
    desk.put("f", "a\nb\n", mode=0o600)
    result = desk.change(patch, desk.at("f"), source=url)
    assert "+c" in str(result.changes["diff"])
    assert (desk.text("f"), desk.mode("f")) == ("a\nc\n", 0o600)
    desk.put("d/f", "a\nb\n")
    desk.change(patch, desk.at("d"), source=url, strip=1)
    assert desk.text("d/f") == "a\nc\n"
    desk.put("g", "other\n")
    assert "does not apply" in desk.refusal(patch, desk.at("g"), source=url)
    assert "does not exist" in desk.refusal(patch, desk.at("none"), source=url)
    assert "not found" in desk.refusal(patch, desk.at("g"), source="salt://none")


def test_encoded_data_is_decoded(desk: Desk) -> None:
    desk.change(decode, desk.at("f"), encoded_data="aGVs\nbG8=")
    assert desk.text("f") == "hello"
    assert "not base64" in desk.refusal(decode, desk.at("f"), encoded_data="%%%")
    assert "either" in desk.refusal(decode, desk.at("f"))


def test_a_pipe_is_made(desk: Desk) -> None:
    desk.change(mknod, desk.at("p"), ntype="p", mode="0640")
    assert stat.S_ISFIFO(os.stat(desk.at("p")).st_mode)
    desk.put("f")
    assert "not a pipe" in desk.refusal(mknod, desk.at("f"), ntype="p")
    assert "no node type" in desk.refusal(mknod, desk.at("g"), ntype="x")


def test_tidying_removes_by_name_age_and_size(desk: Desk) -> None:
    for name in ("d/a.log", "d/s/b.log", "d/keep"):
        os.utime(desk.put(name, "xxxx"), (0, 0))
    os.utime(desk.at("d/s"), (0, 0))
    desk.put("d/new.log", "x")
    args = {"matches": [r".*\.log$", "s$"], "age": 30, "age_size_only": "age", "rmdirs": True}
    result = desk.change(tidied, desk.at("d"), **args)
    assert result.changes == {"removed": [desk.at("d/s/b.log"), desk.at("d/s"), desk.at("d/a.log")]}
    assert desk.names() == ["d", "d/keep", "d/new.log"]
    assert "is not a directory" in desk.refusal(tidied, desk.at("none"))
    assert "not a size" in desk.refusal(tidied, desk.at("d"), size="large")


DAILY = [f"db_2025-12-{day:02}.sql" for day in (29, 30, 31)] + [
    f"db_2026-01-{day:02}.sql" for day in (1, 2, 5)
]


@pytest.mark.parametrize(
    ("retain", "stays"),
    [
        ({"most_recent": 2}, [DAILY[4], DAILY[5]]),
        ({"first_of_month": 1}, [DAILY[3]]),
        ({"first_of_month": "all"}, [DAILY[0], DAILY[3]]),
        ({"first_of_year": 2, "most_recent": 1}, [DAILY[0], DAILY[3], DAILY[5]]),
        ({"first_of_week": 1}, [DAILY[0], DAILY[5]]),
        ({"first_of_day": 3}, DAILY[3:]),
        ({"first_of_hour": 1}, [DAILY[5]]),
        ({"most_recent": 0}, []),
    ],
)
def test_of_many_backups_those_that_a_rule_names_stay(
    desk: Desk, retain: dict[str, object], stays: list[str]
) -> None:
    for name in (*DAILY, "readme"):
        desk.put(f"b/{name}")
    args = {"retain": retain, "strptime_format": "db_%Y-%m-%d.sql"}
    result = desk.change(retention_schedule, desk.at("b"), **args)
    gone = sorted(set(DAILY) - set(stays), reverse=True)
    assert result.changes == {"retained": stays[::-1], "deleted": gone, "ignored": ["readme"]}
    assert desk.names() == ["b", *(f"b/{name}" for name in (*stays, "readme"))]
    if retain != {"first_of_week": 1}:
        desk.same(retention_schedule, desk.at("b"), **args)


def test_backups_without_a_time_in_their_names_go_by_their_last_change(desk: Desk) -> None:
    for day, name in enumerate(["old/x", "middle", "new"]):
        desk.put(f"b/{name}")
        os.utime(desk.at(f"b/{name.partition('/')[0]}"), (0, 1_700_000_000 + 86400 * day))
    result = desk.change(retention_schedule, desk.at("b"), retain={"most_recent": 1}, timezone="Asia/Tokyo")
    assert result.changes["deleted"] == ["old", "middle"]
    assert desk.names() == ["b", "b/new"]


def test_a_schedule_that_is_wrong_removes_nothing(desk: Desk) -> None:
    desk.put("b/x")
    for retain, said in [
        ({"most_recnt": 1}, "did you mean 'most_recent'?"),
        ({}, "retain names no rule"),
        ({"first_of_day": "many"}, "needs a number or 'all'"),
    ]:
        assert said in desk.refusal(retention_schedule, desk.at("b"), retain=retain)
    refused = desk.refusal(retention_schedule, desk.at("b"), retain={"most_recent": 0}, timezone="Mars/Base")
    assert "no time zone is called 'Mars/Base'" in refused
    assert "is not a directory" in desk.refusal(
        retention_schedule, desk.at("none"), retain={"most_recent": 1}
    )
    assert desk.names() == ["b", "b/x"]


def test_empty_directories_are_pruned(desk: Desk) -> None:
    desk.put("d/full/x")
    os.makedirs(desk.at("d/empty/er"))
    assert "not empty" in desk.refusal(pruned, desk.at("d"))
    result = desk.change(pruned, desk.at("d"), ignore_errors=True)
    assert result.changes == {"deleted": [desk.at("d/empty"), desk.at("d/empty/er")]}
    os.makedirs(desk.at("d/empty"))
    result = desk.call(pruned, desk.at("d"), recurse=True)
    assert result.outcome is Outcome.FAILED
    assert result.changes["deleted"] == [desk.at("d/empty")]
    os.makedirs(desk.at("e"))
    assert desk.change(pruned, desk.at("e")).changes == {"deleted": desk.at("e")}


def test_files_of_the_tree_need_no_cache(desk: Desk) -> None:
    url = desk.source("f", "x")
    assert desk.same(cached, url).data["size"] == 1
    assert "not found" in desk.refusal(cached, "salt://none")
    desk.same(not_cached, "http://example.invalid/f")


def test_text_beyond_ascii_is_written_as_it_is_and_a_bare_value_has_no_end_mark(desk: Desk) -> None:
    desk.change(serialize, desk.at("f"), dataset={"a": "ü"}, serializer="json")
    desk.change(serialize, desk.at("g"), dataset="text", serializer="yaml")
    assert (desk.text("f"), desk.text("g")) == ('{\n  "a": "ü"\n}\n', "text\n")


def test_a_directory_that_matches_goes_with_its_contents_unless_something_in_it_is_young(desk: Desk) -> None:
    for name in ("build-1/sub/x", "build-2/x", "other/x"):
        desk.put(f"d/{name}", "x")
    for path in sorted((desk.scratch / "d").rglob("*"), reverse=True):
        os.utime(path, (0, 0))
    os.utime(desk.at("d/build-2/x"))
    rules: dict[str, object] = {"age": 30, "time_comparison": "mtime", "age_size_only": "age"}
    desk.change(tidied, desk.at("d"), matches=["build-"], rmdirs=True, **rules)
    assert sorted(os.listdir(desk.at("d"))) == ["build-2", "other"]


def test_links_are_not_tidied_away_if_they_shall_stay(desk: Desk) -> None:
    desk.put("d/f", "x")
    os.symlink("f", desk.at("d/l"))
    desk.change(tidied, desk.at("d"), followlinks=True, rmlinks=False)
    assert os.listdir(desk.at("d")) == ["l"]


def test_a_file_that_is_removed_meanwhile_is_not_tidied(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("d/gone", "d/s/gone", "d/there"):
        desk.put(name)

    def listed_before(root: str, *, follow: bool = False) -> Iterator[tuple[str, os.stat_result]]:
        found = list(below(root, follow=follow))
        shutil.rmtree(desk.at("d/s"), ignore_errors=True)
        Path(desk.at("d/gone")).unlink(missing_ok=True)
        return iter(found)

    monkeypatch.setattr(sys.modules[tidied.module], "below", listed_before)
    assert desk.call(tidied, desk.at("d"), rmdirs=True).changes == {"removed": [desk.at("d/there")]}


def test_a_walk_passes_over_a_directory_that_is_removed_meanwhile(desk: Desk) -> None:
    desk.put("d/s/x")
    paths = below(desk.at("d"))
    assert next(paths)[0] == desk.at("d/s")
    shutil.rmtree(desk.at("d/s"))
    assert list(paths) == []


def test_directories_that_are_too_young_stay(desk: Desk) -> None:
    (desk.scratch / "d/empty").mkdir(parents=True)
    desk.same(tidied, desk.at("d"), age=1, rmdirs=True, time_comparison="mtime", age_size_only="age")


def test_a_file_is_no_empty_directory(desk: Desk) -> None:
    desk.put("f", "x")
    desk.same(pruned, desk.at("f"))


def test_a_pipe_is_made_with_the_directories_above_it(desk: Desk) -> None:
    desk.change(mknod, desk.at("a/b/p"), ntype="p")


def test_with_an_encoding_yaml_shows_letters_as_they_are(desk: Desk) -> None:
    desk.change(serialize, desk.at("f"), dataset={"a": "é"}, encoding="utf-8")
    assert desk.text("f") == "a: é\n"
