"""The commands and their options: what goes where, and the exit codes."""

from __future__ import annotations

import re

import msgspec
import pytest
import yaml
from tests.e2e.command import Place, is_told_well

TREE = {
    "top.sls": "base:\n  '*':\n    - web\n",
    "web.sls": "one:\n  test.succeed_with_changes: []\ntwo:\n  test.nop:\n    - require: [{test: one}]\n",
    "fails.sls": "bad:\n  test.fail_without_changes: []\nafter:\n  test.nop:\n    - require: [{test: bad}]\n",
    "clean.sls": "fine:\n  test.nop: []\n",
    "template.sls": "{{ pillar.get('word', 'none') }}:\n  test.nop: []\n",
    "broken.sls": "x: 5\n",
}


@pytest.fixture
def tree(place: Place) -> Place:
    return place.write(TREE)


# -- apply -------------------------------------------------------------------------------------------


def test_json_is_shaped_as_salt_shapes_it(tree: Place) -> None:
    done = tree.real("apply", "web", "--out", "json")
    assert done.code == 0
    assert done.err == ""
    answers = done.json()["local"]
    assert list(answers) == ["test_|-one_|-one_|-succeed_with_changes", "test_|-two_|-two_|-nop"]
    first = answers["test_|-one_|-one_|-succeed_with_changes"]
    assert first.keys() == {
        "name", "result", "changes", "comment", "__run_num__", "__sls__", "__id__", "start_time", "duration"
    }  # fmt: skip
    assert (first["name"], first["result"], first["__run_num__"], first["__sls__"], first["__id__"]) == (
        "one",
        True,
        0,
        "web",
        "one",
    )
    assert first["changes"] == {"testing": {"old": "Unchanged", "new": "Something pretended to change"}}
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{6}", str(first["start_time"]))


def test_without_a_name_it_is_the_highstate(tree: Place) -> None:
    done = tree.real("apply", "--out", "json")
    assert done.code == 0
    assert list(done.answers()) == ["one", "two"]


def test_several_names_are_applied_in_their_order(tree: Place) -> None:
    for words in (("clean", "web"), ("clean,web",)):
        assert list(tree.run("apply", *words, "--out", "json").answers()) == ["fine", "one", "two"]


def test_what_does_not_compile_is_a_list_of_messages_in_json(tree: Place) -> None:
    done = tree.real("apply", "broken", "--out", "json")
    assert done.code == 3
    assert [problem.partition(": ")[0] for problem in done.problems()] == [f"{tree.states}/broken.sls:1:1"]
    assert "[id-not-mapping]" in done.problems()[0]
    assert f"{tree.states}/broken.sls:1:1" in done.err


@pytest.mark.parametrize("out", ["highstate", "json", "jsonl", "yaml", "junit", "quiet", "nested", "pprint"])
@pytest.mark.parametrize(("name", "code"), [("clean", 0), ("fails", 2), ("broken", 3)])
def test_every_format_has_the_same_exit_codes_and_keeps_stderr_apart(
    tree: Place, out: str, name: str, code: int
) -> None:
    done = tree.run("apply", name, "--out", out)
    is_told_well(done)
    assert done.code == code
    assert ("broken.sls:1:1" in done.err) == (code == 3)
    if code < 3:
        assert done.err == ""
        assert bool(done.out) == (out != "quiet")


def test_each_format_can_be_read_by_its_readers(tree: Place) -> None:
    from xml.etree import ElementTree

    assert (
        yaml.safe_load(tree.run("apply", "fails", "--out", "yaml").out)["local"].keys()
        == tree.run("apply", "fails", "--out", "json").json()["local"].keys()
    )
    suite = ElementTree.fromstring(tree.run("apply", "fails", "--out", "junit").out)
    assert len(list(suite.iter("testcase"))) == 2
    assert len(list(suite.iter("failure"))) >= 1
    ElementTree.fromstring(tree.run("apply", "broken", "--out", "junit").out)
    events = tree.run("apply", "fails", "--out", "jsonl").lines()
    assert len(events) >= 4
    assert yaml.safe_load(tree.run("apply", "broken", "--out", "yaml").out).keys() == {"local"}
    assert tree.run("apply", "broken", "--out", "jsonl").lines()


def test_a_failed_state_is_exit_code_2_and_its_dependent_is_not_run(tree: Place) -> None:
    done = tree.real("apply", "fails", "--out", "json")
    assert done.code == 2
    after = done.answers()["after"]
    assert after["result"] is False
    assert after["__state_ran__"] is False
    assert "fails.bad" in str(after["comment"])


def test_test_mode_changes_nothing_and_is_a_success(place: Place) -> None:
    target = place.base / "made"
    place.write({"main.sls": f"{target}:\n  file.managed:\n    - contents: x\n"})
    done = place.real("apply", "main", "--test", "--out", "json")
    assert done.code == 0
    assert next(iter(done.answers().values()))["result"] is None
    assert not target.exists()
    assert place.run("apply", "main", "--test", "--detailed-exitcode").code == 4
    assert place.run("apply", "main", "--detailed-exitcode").code == 4
    assert target.read_text() == "x\n"
    assert place.run("apply", "main", "--detailed-exitcode").code == 0


def test_nothing_to_run_is_a_success_with_a_notice(place: Place) -> None:
    done = place.write({"main.sls": "# nothing\n"}).real("apply", "main")
    assert done.code == 0
    assert "no states to run" in done.err


def test_no_matching_top_file_is_a_failed_answer_as_in_salt(place: Place) -> None:
    for files in ({}, {"top.sls": "base: {'other': [x]}\n"}):
        done = place.write(files).run("apply", "--out", "json")
        assert done.code == 2
        assert list(done.json()["local"]) == ["no_|-states_|-states_|-None"]


def test_only_an_id_runs_with_what_it_needs(place: Place) -> None:
    place.write({"main.sls": "a: test.nop\nb: test.nop\nc: {test.nop: [require: [{test: a}]]}\n"})
    assert list(place.run("apply", "main", "--only-id", "c", "--out", "json").answers()) == ["a", "c"]
    done = place.run("apply", "main", "--only-id", "nosuch")
    assert done.code == 1
    assert "[id-unknown]" in done.err


def test_a_template_from_outside_the_roots_is_applied(tree: Place) -> None:
    (tree.base / "other.sls").write_text("include: [clean]\nmine:\n  test.nop: []\n")
    done = tree.run("apply", "--template", str(tree.base / "other.sls"), "--out", "json")
    assert list(done.answers()) == ["fine", "mine"]
    missing = tree.run("apply", "--template", "/nosuch.sls")
    assert (missing.code, "[template-missing]" in missing.err) == (1, True)


def test_sls_and_ids_can_be_left_out(tree: Place) -> None:
    assert list(tree.run("apply", "web", "clean", "--exclude", "clean", "--out", "json").answers()) == [
        "one",
        "two",
    ]
    assert list(tree.run("apply", "clean", "web", "--exclude", "[{id: two}]", "--out", "json").answers()) == [
        "fine",
        "one",
    ]
    for bad in ("[", "{a: b}", "[5]"):
        done = tree.run("apply", "clean", "--exclude", bad)
        is_told_well(done)
        assert done.code == 1


def test_roots_of_environments_and_the_environment_asked_for(place: Place) -> None:
    place.write({"a.sls": "from_base: test.nop\n"})
    dev = place.base / "dev"
    dev.mkdir()
    (dev / "a.sls").write_text("from_dev: test.nop\n")
    roots = [f"--file-root={place.states}", f"--file-root=dev={dev}"]
    assert list(place.run("apply", "a", *roots, "--out", "json").answers()) == ["from_base"]
    assert list(place.run("apply", "a", *roots, "--saltenv", "dev", "--out", "json").answers()) == [
        "from_dev"
    ]
    done = place.run("apply", "a", *roots, "--saltenv", "nosuch")
    assert (done.code, "[env-not-found]" in done.err) == (3, True)


def test_the_first_of_several_roots_wins(place: Place) -> None:
    second = place.base / "second"
    second.mkdir()
    (second / "a.sls").write_text("second: test.nop\n")
    (second / "b.sls").write_text("only_second: test.nop\n")
    place.write({"a.sls": "first: test.nop\n"})
    done = place.run(
        "apply", "a", "b", f"--file-root={place.states}", f"--file-root={second}", "--out", "json"
    )
    assert list(done.answers()) == ["first", "only_second"]


def test_pillar_and_grains_of_the_command_line_win(tree: Place) -> None:
    tree.write(
        {"pillar/top.sls": "base: {'*': [p]}", "pillar/p.sls": "word: compiled\n", "etc/g": "colour: red\n"}
    )
    assert list(tree.run("apply", "template", "--out", "json").answers()) == ["compiled"]
    assert list(tree.run("apply", "template", "--pillar", "{word: typed}", "--out", "json").answers()) == [
        "typed"
    ]
    done = tree.run("show", "grains", "colour", "--grains", str(tree.base / "etc/g"), "--out", "json")
    assert msgspec.json.decode(done.out) == {"local": {"colour": "red"}}


def test_a_configuration_file_is_read_and_its_mistakes_are_reported_by_line(tree: Place) -> None:
    tree.write({"etc/saltern.yaml": "id: somebody\nfile_roots:\n  base: [../states]\n"})
    done = tree.run("call", "config.get", "id", "--out", "json")
    assert msgspec.json.decode(done.out) == {"local": "somebody"}
    tree.write({"etc/saltern.yaml": "id: x\nfailhard: perhaps\n"})
    done = tree.run("apply", "clean")
    assert (done.code, "etc/saltern.yaml:2: " in done.err, "[bad-option]" in done.err) == (1, True, True)
    done = tree.run("apply", "clean", "--config", "/nosuch.yaml")
    assert (done.code, "[no-configuration]" in done.err) == (1, True)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["apply", "--nosuch"], "--help"),
        (["apply", "clean", "--out", "xml"], "xml"),
        (["apply", "clean", "--tset"], "did you mean '--test'?"),
        (["apply", "clean", "--pillar"], "--pillar"),
        (["apply", "clean", "--pillar", "[1]"], "needs a mapping"),
        (["apply", "clean", "--pillar", "{"], "not YAML"),
        (["apply", "clean", "--grains", "/nosuch"], "[grains-missing]"),
        (["apply", "clean", "--file-root", "/nosuch"], "[root-unreadable]"),
        (["apply", "clean", "--file-root", "/etc/passwd"], "is not a directory"),
        (["show", "nosuch"], "nosuch"),
        (["show", "sls"], "name at least one SLS"),
        (["show"], "show"),
        (["call", "nosuch.fun"], "[function-unknown]"),
        (["call"], "call"),
        (["call", "test.ping", "1", "2"], "[function-failed]"),
        (["single", "nosuch"], "[state-unknown]"),
        (["single", "test.nopp"], "did you mean"),
        (["render", "/nosuch"], "[file-missing]"),
        (["aply"], "did you mean 'apply'?"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_exit_code_1_with_a_hint(tree: Place, words: list[str], hint: str) -> None:
    done = tree.run(words[0], *words[1:])
    is_told_well(done)
    assert done.code in ((1, 3) if words[0] == "single" else (1,))
    assert hint in done.err
    assert len(done.err.splitlines()) < 12


@pytest.mark.parametrize("command", ["apply", "show", "single", "call", "render"])
def test_every_command_has_help(place: Place, command: str) -> None:
    done = place.run(command, "--help")
    assert done.code == 0
    assert done.err == ""
    assert f"saltern {command}" in done.out


def test_the_program_itself_has_help_and_a_version(place: Place) -> None:
    import subprocess
    import sys

    for words, code, said in (
        (["--version"], 0, "saltern "),
        (["--help"], 0, "commands:"),
        ([], 1, "commands:"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "saltern", *words], capture_output=True, text=True, timeout=40
        )
        assert (done.returncode, said in done.stdout, done.stderr) == (code, True, "")


# -- show, call, single, render -------------------------------------------------------------------


@pytest.mark.parametrize("what", ["highstate", "lowstate", "order", "top", "pillar", "grains", "rendered"])
@pytest.mark.parametrize("out", ["nested", "json", "yaml"])
def test_every_boundary_can_be_shown(tree: Place, what: str, out: str) -> None:
    done = tree.run("show", what, "--out", out)
    is_told_well(done)
    assert done.code == 0, done.err
    assert done.err == ""
    if out == "json":
        assert "local" in msgspec.json.decode(done.out)


def test_what_is_shown_has_salts_shape(tree: Place) -> None:
    def shown(*words: str) -> object:
        return msgspec.json.decode(tree.run("show", *words, "--out", "json").out)["local"]

    assert shown("top") == {"base": ["web"]}
    assert shown("sls", "clean") == {
        "fine": {"test": ["nop", {"order": 10000}], "__sls__": "clean", "__env__": "base"}
    }
    (low,) = msgspec.convert(shown("low-sls", "clean"), list[dict[str, object]])
    assert low == {
        "name": "fine", "state": "test", "__id__": "fine", "fun": "nop", "__env__": "base",
        "__sls__": "clean", "order": 10000
    }  # fmt: skip
    assert shown("rendered", "template") == {"template": "none:\n  test.nop: []\n"}
    assert [row["id"] for row in msgspec.convert(shown("order"), list[dict[str, object]])] == ["one", "two"]


@pytest.mark.parametrize("what", ["highstate", "lowstate", "order", "rendered"])
def test_showing_what_does_not_compile_is_exit_code_3(place: Place, what: str) -> None:
    place.write({"broken.sls": "x: {{ nosuch }}\n"})
    done = place.run("show", what, "broken", "--out", "json")
    is_told_well(done)
    assert done.code == 3
    assert "broken.sls:1" in done.problems()[0]


def test_one_function_is_called_with_typed_arguments(place: Place) -> None:
    def called(*words: str) -> object:
        done = place.run("call", *words, "--out", "json")
        assert done.code == 0, done.err
        return msgspec.json.decode(done.out)["local"]

    assert called("test.ping") is True
    assert called("test.echo", "[1, a]") == [1, "a"]
    assert called("test.echo", "django==4.2") == "django==4.2"
    assert called("cmd.run", "echo a | tr a b") == "b"
    assert called("pillar.get", "a:b", "--pillar", "{a: {b: 3}}") == 3


def test_one_state_is_applied_without_a_file(place: Place) -> None:
    target = place.base / "touched"
    done = place.run("single", "file.touch", f"name={target}", "--test", "--out", "json")
    assert (done.code, target.exists()) == (0, False)
    done = place.run("single", "file.touch", f"name={target}", "--out", "json")
    assert (done.code, target.exists()) == (0, True)
    assert place.run("single", "test.fail_without_changes", "x").code == 2


def test_one_file_is_rendered(tree: Place) -> None:
    path = str(tree.states / "template.sls")
    assert yaml.safe_load(tree.run("render", path).out) == {
        "local": {"none": {"test.nop": []}}
    } or yaml.safe_load(tree.run("render", path).out) == {"none": {"test.nop": []}}
    assert tree.run("render", "salt://template.sls", "--text").out == "none:\n  test.nop: []\n"
    tree.write({"bad.sls": "a:\n  {{ nosuch }}\n"})
    done = tree.run("render", str(tree.states / "bad.sls"))
    is_told_well(done)
    assert (done.code, "bad.sls:2: " in done.err) == (3, True)


# -- the report -------------------------------------------------------------------------------------


def test_the_report_has_salts_layout(tree: Place) -> None:
    lines = tree.run("apply", "fails").out.splitlines()
    assert lines[:5] == [
        "local:",
        "----------",
        "          ID: bad",
        "    Function: test.fail_without_changes",
        "      Result: False",
    ]
    for start in (
        "     Comment: ",
        "     Started: ",
        "    Duration: ",
        "     Changes:",
        "Summary for local",
        "Succeeded: 0",
        "Failed:    2",
        "Total states run:     2",
    ):
        assert any(line.startswith(start) for line in lines), start


@pytest.mark.parametrize(
    "how", ["full", "terse", "mixed", "changes", "filter", "full_id", "terse_id", "mixed_id", "changes_id"]
)
def test_the_report_can_be_shorter(tree: Place, how: str) -> None:
    done = tree.run("apply", "web", "fails", f"--state-output={how}")
    is_told_well(done)
    assert done.code == 2
    two = [line for line in done.out.splitlines() if "two" in line]
    short = any(line.strip().startswith("Name: two - Function: test.nop - Result: Clean") for line in two)
    assert short == (how.split("_")[0] in ("terse", "mixed", "changes"))


def test_what_is_clean_can_be_left_out(tree: Place) -> None:
    out = tree.run("apply", "web", "--state-verbose=false").out
    assert "ID: one" in out
    assert "ID: two" not in out
    assert tree.run("apply", "web", "--state-verbose=maybe").code == 1


def test_colours_are_for_terminals_and_for_those_who_ask(tree: Place) -> None:
    assert "\x1b[" not in tree.run("apply", "web").out
    assert "\x1b[" in tree.run("apply", "web", "--color").out
    assert "\x1b[" not in tree.run("apply", "web", "--no-color").out
