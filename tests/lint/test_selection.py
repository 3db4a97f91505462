"""Which files are checked, and by which rules."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.e2e.command import Place
from tests.lint.checking import checked, codes, places

from saltern.language.diagnostics import OperationError

BAD = "{0}:\n  cmd.run:\n    - name: x\n"
TREE = {
    "top.sls": "base:\n  '*': [gone]\n",
    "web/init.sls": BAD.format("web"),
    "web/tls.sls": BAD.format("tls"),
    "db.sls": BAD.format("db"),
}


def test_a_name_or_a_pattern_chooses_files_and_leaves_the_top_file_out() -> None:
    assert places(checked(TREE, "db")) == ["db.sls:2 command-unguarded"]
    assert places(checked(TREE, "web*")) == [
        "web/init.sls:2 command-unguarded",
        "web/tls.sls:2 command-unguarded",
    ]


def test_a_name_that_does_not_exist_is_reported_with_the_nearest() -> None:
    (problem,) = checked(TREE, "dbb").problems
    assert (problem.code, problem.fix) == ("sls-not-found", "did you mean 'db'?")


def test_of_files_that_are_included_only_errors_are_reported() -> None:
    tree = {
        "main.sls": "include: [other]\n",
        "other.sls": "a:\n  cmd.run:\n    - name: x\n    - require:\n      - cmd: gone\n",
    }
    assert codes(tree, "main") == ["requisite-unknown"]


REACTION = "a:\n  local.state.apply:\n    - tgt: {{ data['id'] }}\n    - args:\n      - mods: web\n"


def test_files_of_the_reactor_are_no_states() -> None:
    tree = {"db.sls": BAD.format("db"), "reactor/start.sls": REACTION}
    assert places(checked(tree)) == ["db.sls:2 command-unguarded"]
    with pytest.raises(OperationError, match="is a reactor file"):
        checked(tree, "reactor.start")


@pytest.mark.parametrize("kind", ["local", "caller", "cmd", "runner", "wheel"])
def test_every_kind_of_reaction_is_known_by_its_dots(kind: str) -> None:
    assert codes({"r.sls": f"a:\n  {kind}.some.thing:\n    - tgt: {{{{ data.id }}}}\n"}) == []
    assert codes({"r.sls": "a:\n  cmd.run: {{ data.id }}\n"}) == ["template-undefined"]


def test_patterns_leave_files_out() -> None:
    assert codes(TREE, without=["web*", "d?"], ignore=["sls-not-found"]) == []
    config = {"check": {"exclude": ["web*"], "rules": {"sls-not-found": False}}}
    assert (
        codes(TREE, config=config, without=["db"]) == ["command-unguarded"] * 2
    )  # the option is the command's


@pytest.mark.parametrize("level", [False, "off"])
def test_the_configuration_switches_rules_off_however_yaml_reads_the_word(level: object) -> None:
    config = {"check": {"rules": {"command-unguarded": level}}}
    assert codes(TREE, "db", config=config) == []
    assert codes(TREE, "db", config=config, rules=["command-unguarded"]) == ["command-unguarded"]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"rules": {"comand-unguarded": "off"}}, "did you mean 'command-unguarded'?"),
        ({"rules": {"command-unguarded": "loud"}}, "it is off, on, warning or error"),
        ({"rules": ["command-unguarded"]}, "write 'rules: {NAME: off}'"),
        ({"rule": {}}, "did you mean 'rules'?"),
    ],
)
def test_a_configuration_that_means_nothing_is_reported(config: dict[str, object], said: str) -> None:
    with pytest.raises(OperationError) as problem:
        checked(TREE, config={"check": config})
    assert [one.fix for one in problem.value.diagnostics] == [said]


# -- paths, by the command --------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path).write({**TREE, "top.sls": "base:\n  '*': [db]\n"})


def bare(place: Place, *words: str, config: str = "") -> tuple[int, str]:
    """Without any root, as one who tries it."""
    from tests.e2e.command import forked

    done = forked(["check", *words], place.base)
    return done.code, done.out + done.err


def test_a_directory_that_is_no_root_is_one(place: Place) -> None:
    code, told = bare(place, "states")
    assert code == 0
    assert "checked 3 files" in told and told.count("[command-unguarded]") == 3


def test_a_path_inside_a_tree_finds_its_root_by_the_top_file(place: Place) -> None:
    place.write({"web/tls.sls": "include: [db]\nb:\n  test.nop: []\n"})
    code, told = bare(place, "states/web/tls.sls")
    assert (code, told) == (0, "checked 1 file, no problems\n")


def test_paths_below_a_root_choose_files(place: Place) -> None:
    done = place.run("check", "states/web")
    assert done.out.count("[command-unguarded]") == 2 and "checked 2 files" in done.out


def test_a_path_outside_of_the_roots_that_are_named_is_reported(place: Place) -> None:
    os.mkdir(place.base / "elsewhere")
    done = place.run("check", "./elsewhere")
    assert (done.code, "[check-nothing]" in done.err) == (1, True)


def test_a_path_that_does_not_exist_is_reported(place: Place) -> None:
    code, told = bare(place, "states/gone.sls")
    assert code == 1 and "there is no file" in told and "[check-nothing]" in told


def test_pillar_inside_of_a_file_root_is_not_checked_as_states(place: Place) -> None:
    place.write({"pillar/top.sls": "base:\n  '*': [data]\n", "pillar/data.sls": "key: value\n"})
    done = place.run("check", f"--file-root={place.base}", "--ignore", "command-unguarded")
    assert done.code == 0, done.out
