"""A tree is checked for several machines: each file for those that get it, each problem told once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec import json
from tests import kit
from tests.e2e.command import Done, Place

from saltern.engine.session import Session
from saltern.language.diagnostics import OperationError, PillarError
from saltern.lint.check import check
from saltern.lint.choices import choose
from saltern.lint.machines import Machine, read_machines

TOP = "base:\n  'role:web':\n    - match: grain\n    - web\n  'role:db':\n    - match: grain\n    - db\n"
WEB = "{{ pillar['site'] }}:\n  test.nop:\n    - require:\n      - test: {{ grains['needs'] }}\n"
FILES = {
    "top.sls": TOP,
    "web.sls": WEB,
    "db.sls": "{{ pillar['size'] }}:\n  test.nop: []\n",
    "loose.sls": "{% if grains['role'] == 'db' %}\nx: [\n{% endif %}\n",
}
MACHINES: dict[str, dict[str, dict[str, object]]] = {
    "web1": {"grains": {"role": "web", "needs": "gone"}, "pillar": {"site": "a"}},
    "web2": {"grains": {"role": "web", "needs": "a"}, "pillar": {"site": "a"}},
    "db1": {"grains": {"role": "db"}, "pillar": {"size": "big"}},
}


def found_on(
    files: Mapping[str, str], machines: Mapping[str, Mapping[str, Mapping[str, object]]], *rules: str
) -> list[tuple[str, str, tuple[str, ...]]]:
    """Each problem as its file and line, its code, and the machines it holds for."""
    sessions: dict[str, Session] = {}
    with kit.tree(files) as made:
        for name, given in machines.items():
            made._grains, made._pillar = given.get("grains"), dict(given.get("pillar", {}))
            sessions[name] = made.session()
        found = check(made.session(), [], choose({}, rules, ()), machines=sessions)
        root = f"{made.place}/states/base/"
    return [
        (str(one.where).removeprefix(root).rpartition(":")[0], one.code, found.machines.get(one, ()))
        for one in found.problems
    ]


def test_a_file_is_compiled_for_the_machines_that_get_it_and_one_that_nobody_gets_for_all() -> None:
    assert found_on(FILES, MACHINES) == [
        ("loose.sls:3", "yaml-syntax", ("db1",)),
        ("web.sls:4", "requisite-cycle", ("web2",)),
        ("web.sls:4", "requisite-unknown", ("web1",)),
    ]


def test_what_holds_for_all_machines_is_reported_without_their_names() -> None:
    files = {"main.sls": "a:\n  test.nop:\n    - require:\n      - test: gone\n"}
    assert found_on(files, MACHINES) == [("main.sls:4", "requisite-unknown", ())]


def test_a_target_that_matches_none_of_the_machines_is_compiled_for_all() -> None:
    files = {
        "top.sls": "base:\n  'nobody': [one, two]\n",
        "one.sls": "a:\n  test.nop: []\n",
        "two.sls": "a:\n  test.nop: []\n",
    }
    assert found_on(files, MACHINES) == [("two.sls:1", "id-conflict", ())]


def test_a_file_or_block_that_one_machine_uses_is_used() -> None:
    files = {
        "top.sls": "base:\n  '*': [main]\n",
        "main.sls": "{% if grains['role'] == 'db' %}\ninclude: [other]\n{% endif %}\na:\n  test.nop: []\n",
        "other.sls": "b:\n  test.nop: []\n",
        "third.sls": "c:\n  test.nop: []\n",
    }
    assert found_on(files, MACHINES, "sls-unused") == [("third.sls", "sls-unused", ())]


def test_a_file_that_is_asked_for_by_name_is_compiled_for_those_that_get_it(place: Place) -> None:
    place.write({"web.sls": WEB + "include: [common]\n", "common.sls": "{{ grains['role'] }}: [\n"})
    done = place.run("check", "web", "--machine=fixtures")
    assert "pillar has no" not in done.out and "[yaml-syntax]" in done.out, "db1 has no 'site'"
    assert "on web1, web2\n" in done.out
    loose = place.run("check", "loose", "--machine=fixtures").out
    assert loose.count("[yaml-syntax]") == 1 and "on db1\n" in loose


def test_the_same_id_for_different_machines_is_no_conflict() -> None:
    same = {"web.sls": "a:\n  test.nop: []\n", "db.sls": "a:\n  test.nop: []\n"}
    assert found_on({"top.sls": TOP, **same}, MACHINES, "id-in-two-files") == []


def test_a_pillar_that_does_not_compile_is_reported_with_its_machine() -> None:
    files = {
        "main.sls": "",
        "pillar/top.sls": "base:\n  '*': [data]\n",
        "pillar/data.sls": "a: {{ grains['needs'] }}\n",
    }
    with pytest.raises(PillarError) as problem:
        found_on(files, MACHINES)
    assert [one.detail.partition("\n")[0] for one in problem.value.diagnostics] == ["on db1"]


# -- as they are written down ------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path).write(FILES)
    folder = tmp_path / "fixtures"
    folder.mkdir()
    for name, given in MACHINES.items():
        (folder / f"{name}.yaml").write_bytes(json.encode(given))
    return made


def test_a_directory_of_machines_is_given_on_the_command_line(place: Place) -> None:
    done = place.run("check", "--machine", "fixtures")
    assert done.code == 3, done.err
    assert "web.sls:4:9: 'require' of 'a' names test 'gone'" in done.out
    assert "\n  on web1\n" in done.out and "\n  on db1\n" in done.out
    assert "checked 3 files for 3 machines\n" in done.out


def test_programs_are_reported_the_machines(place: Place) -> None:
    rows = json.decode(place.run("check", "--machine=fixtures", "--out=json").out)["problems"]
    assert [row["machines"] for row in rows] == [["db1"], ["web2"], ["web1"]]


def test_machines_of_the_configuration_stand_there_or_in_files_beside_it(place: Place) -> None:
    place.write({"etc/saltern.yaml": "check:\n  machines: [../fixtures/web1.yaml]\n"})
    assert "[requisite-unknown]" in place.run("check").out
    inline = "check:\n  machines:\n    one: {id: x, grains: grains.yaml, pillar: {site: a}}\n"
    place.write({"etc/saltern.yaml": inline, "etc/grains.yaml": "role: web\nneeds: gone\n"})
    assert "[requisite-unknown]" in place.run("check").out
    assert "[requisite-cycle]" in place.run("check", "--machine=fixtures/web2.yaml").out


def test_pillar_that_is_typed_wins(place: Place) -> None:
    done = place.run("check", "--machine=fixtures/web2.yaml", "--pillar={site: other}")
    assert "'require' of 'other' names test 'a'" in done.out


def test_the_name_of_a_file_is_the_id_of_its_machine_if_it_names_no_other(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("id: two\n")
    (tmp_path / "three.yml").write_text("grains: {}\n")
    (tmp_path / "notes.txt").write_text("nothing")
    found = read_machines({}, [str(tmp_path)], "")
    assert found == [Machine(name="one", id="two"), Machine(name="three", id="three")]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("- a\n", "the machine 'one' is not a mapping"),
        ("os: Debian\n", "a machine has no 'os'"),
        ("grains: [a]\n", "the grains of 'one' are not a mapping"),
        ("pillar: gone.yaml\n", "cannot be read: No such file or directory"),
        ("grains: [\n", "expected"),
    ],
)
def test_a_file_that_is_no_machine_is_reported(text: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(text)
    with pytest.raises(OperationError) as problem:
        read_machines({}, [str(tmp_path / "one.yaml")], "")
    (told,) = problem.value.diagnostics
    assert what in told.what and told.code == "check-machines"


def test_paths_that_lead_nowhere_are_reported(place: Place) -> None:
    def told(done: Done) -> str:
        assert done.code == 1 and "[check-machines]" in done.err
        return done.err

    assert "there is no machine in" in told(place.run("check", "--machine", "states"))
    assert "cannot be read" in told(place.run("check", "--machine", "gone.yaml"))
    assert "two machines are called 'db1'" in told(
        place.run("check", "--machine=fixtures/db1.yaml", "--machine=fixtures")
    )
