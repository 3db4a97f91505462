"""``no_log``: what a state works with is in no output, and in no file once the run has ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.command import Done, Place

SECRET = "sw0rdf1sh"
FORMATS = ("highstate", "json", "jsonl", "yaml", "nested", "pprint", "junit", "tree", "quiet")
SHAPES = ("full", "terse", "mixed", "changes", "filter", "full_id", "terse_id", "mixed_id", "changes_id")
PICTURES = ("dot", "mermaid", "svg", "html")
STATES = f"""\
echo {SECRET} as-id:
  cmd.run: [{{no_log: true}}, {{fire_event: true}}, {{register: said}}]
quiet-name:
  cmd.run: [{{name: echo {SECRET} as-name}}, {{no_log: true}}]
several:
  cmd.run: [{{names: [echo {SECRET} 1, echo {SECRET} 2]}}, {{no_log: true}}]
environment:
  cmd.run: [{{name: echo $WORD; echo $WORD >&2}}, {{env: [{{WORD: {SECRET}}}]}}, {{no_log: true}}]
contents:
  file.managed: [{{name: AT/file}}, {{contents: {SECRET}}}, {{no_log: true}}]
path:
  file.managed: [{{name: AT/{SECRET}}}, {{contents: x}}, {{no_log: true}}]
guarded:
  cmd.run: [{{name: echo x}}, {{onlyif: test {SECRET} = {SECRET}}}, {{no_log: true}}]
comment:
  test.configurable_test_state:
    - changes: false
    - result: false
    - comment: {SECRET}
    - warnings: {SECRET}
    - no_log: true
beside:
  cmd.run: [{{name: echo {SECRET}}}, {{parallel: true}}, {{no_log: true}}]
false {SECRET}:
  cmd.run: [{{no_log: true}}, {{fire_event: true}}]
waits:
  test.nop: [{{require: [{{cmd: false {SECRET}}}]}}]
watches:
  test.nop: [{{watch: [{{cmd: echo {SECRET} as-name}}]}}]
hears:
  cmd.wait: [{{name: echo hears {SECRET}}}, {{listen: [{{cmd: quiet-name}}]}}, {{no_log: true}}]
raises:
  cmd.run: [{{name: echo x}}, {{cwd: /nowhere/{SECRET}}}, {{no_log: true}}]
badly:
  cmd.run: [{{name: echo x}}, {{timeout: {SECRET}}}, {{no_log: true}}]
reads:
  test.nop: [{{name: known}}, {{require: [{{id: echo {SECRET} as-id}}]}}]
"""
PILLAR = STATES.replace(SECRET, "{{ pillar.word }}")
SURE = ("contents", "quiet-name", "(no_log")  # what is shown all the same


@pytest.fixture(params=["literal", "pillar"])
def main(request: pytest.FixtureRequest, place: Place) -> list[str]:
    """The arguments of a command for a tree that works with the secret, as text or as pillar."""
    at = place.base / "made"
    at.mkdir()
    literal = request.param == "literal"
    place.write({"main.sls": (STATES if literal else PILLAR).replace("AT", str(at))})
    return ["main"] if literal else ["main", "--pillar", f"{{word: {SECRET}}}"]


def _is_silent(done: Done, *, code: int | None = None) -> None:
    assert SECRET not in done.out + done.err
    assert code is None or done.code == code


@pytest.mark.parametrize("more", [[], ["--test"], ["-l", "trace"]], ids=["apply", "test", "log"])
def test_no_format_shows_it(place: Place, main: list[str], more: list[str]) -> None:
    for out in FORMATS:
        done = place.run("apply", *main, "--out", out, "--expand", *more)
        _is_silent(done, code=2)
        assert "(no_log" in done.out + done.err or out == "quiet"


def test_no_shape_of_the_highstate_shows_it(place: Place, main: list[str]) -> None:
    for shape in SHAPES:
        done = place.run("apply", *main, "--state-output", shape)
        _is_silent(done, code=2)
        assert "(no_log" in done.out


def test_no_view_of_a_plan_shows_it(place: Place, main: list[str]) -> None:
    views = ["show low-sls", "show order", "show order --out json", "plan", "plan --out json", "drift"]
    views += ["drift --out json", *(f"graph --format {one}" for one in PICTURES)]
    for view in views:
        done = place.run(*view.split(), *main)
        _is_silent(done)
        assert done.code in (0, 2, 4), (view, done.err)
        assert any(word in done.out for word in SURE), view
    for word in (f"echo {SECRET} as-name", "contents", "waits"):
        done = place.run("explain", word, *main)
        _is_silent(done, code=0)


def test_the_part_of_a_plan_for_people_does_not_show_it(place: Place, main: list[str]) -> None:
    file = place.base / "main.plan"
    place.run("plan", *main, "-o", str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    assert SECRET not in file.read_text()
    place.write({"main.sls": (place.states / "main.sls").read_text().replace("contents: x", "contents: y")})
    done = place.run("apply", str(file))
    _is_silent(done)
    assert "now has another contents" in done.err


def test_no_problem_that_check_finds_shows_it(place: Place) -> None:
    place.write(
        {
            "main.sls": f"relative/{SECRET}:\n  file.managed: [{{no_log: true}}, {{source: {SECRET}}}]\n"
            f"a:\n  cmd.run:\n    - name: echo\n    - timeot: {SECRET}\n    - retry: {SECRET}\n"
            f"    - no_log: true\n"
            f"echo {SECRET}:\n  cmd.run:\n    - no_log: true\n    - require:\n      - file: nosuch\n"
        }
    )
    for words in (["check"], ["check", "--out", "json"], ["apply", "main"], ["plan", "main"]):
        done = place.run(words[0], *words[1:])
        assert done.code not in (0, 70)
        _is_silent(done)


@pytest.mark.parametrize("kind", ["require", "require_in", "listen_in"])
def test_a_requisite_that_names_nothing_does_not_show_what_it_names(place: Place, kind: str) -> None:
    place.write(
        {"main.sls": f"a:\n  test.nop:\n    - no_log: true\n    - {kind}:\n      - file: /{SECRET}\n"}
    )
    for command in ("apply", "plan"):
        done = place.run(command, "main")
        _is_silent(done)
        assert f"{kind!r} of" in done.err
        assert "names a state, which no SLS of this run declares" in done.err


def test_nothing_is_shown_or_kept_of_a_run_that_has_ended(place: Place, main: list[str]) -> None:
    place.run("apply", *main)
    if "--pillar" not in main:  # what was given on the command line is needed to try what has failed again
        assert _holding(place) == []
    for out in FORMATS:
        _is_silent(place.run("show", "run", "--out", out, "--expand"))
    pictures = (["graph", "--run", "last", "--format", one] for one in PICTURES)
    for command in (["runs"], ["runs", "--out", "json"], ["resume"], *pictures):
        done = place.run(command[0], *command[1:])
        _is_silent(done)
        assert done.code != 70, done.err
    for words in (["report", "--html", "-o", "page.html"], ["graph", "--run", "last", "-o", "page.html"]):
        page = place.base / words[-1]
        done = place.run(*words[:-1], str(page))
        assert done.code == 0, done.err
        assert SECRET not in page.read_text()
        assert page.stat().st_mode & 0o777 == 0o600
        page.unlink()


def test_a_run_that_went_well_keeps_nothing_of_the_pillar_either(place: Place) -> None:
    place.write({"main.sls": "a:\n  cmd.run: [{name: 'echo {{ pillar.word }}'}, {no_log: true}]\n"})
    assert place.run("apply", "main", "--pillar", f"{{word: {SECRET}}}").code == 0
    assert _holding(place) == []


def test_the_state_directory_is_its_owners_alone(place: Place, main: list[str]) -> None:
    place.run("apply", *main, env={"SALTERN_STATE_DIR": str(place.base / "own" / "state")})
    place.run("drift", *main, env={"SALTERN_STATE_DIR": str(place.base / "own" / "state")})
    modes = {path: path.stat().st_mode & 0o777 for path in (place.base / "own").rglob("*")}
    assert len(modes) > 2
    assert {path for path, mode in modes.items() if mode & 0o077} == set()


def test_what_was_hidden_and_went_well_is_not_done_again(place: Place) -> None:
    log = place.base / "log"
    place.write(
        {
            "main.sls": f"a:\n  cmd.run: [{{name: 'echo {SECRET} >> {log}'}}, {{no_log: true}}]\n"
            f"b:\n  cmd.run: [{{name: 'echo b >> {log}; exit 1'}}]\n"
        }
    )
    assert place.run("apply", "main").code == 2
    assert place.run("apply", "--failed-from", "last").code == 2
    assert log.read_text().split() == [SECRET, "b", "b"]


def test_whoever_asks_for_a_hidden_return_has_it_also_when_only_failures_are_tried_again(
    place: Place,
) -> None:
    made = place.base / "made"
    place.write(
        {
            "main.sls": f"a:\n  cmd.run: [{{name: echo {SECRET}}}, {{no_log: true}}, {{register: said}}]\n"
            f"b:\n  file.managed: [{{name: {made}/file}}, {{contents: '${{delayed:said.data.stdout}}'}}, "
            "{no_log: true}]\n"
        }
    )
    assert place.run("apply", "main").code == 2
    assert _holding(place) == []
    made.mkdir()
    assert place.run("apply", "--failed-from", "last").code == 0
    assert (made / "file").read_text().strip() == SECRET
    assert _holding(place) == []


def _holding(place: Place) -> list[Path]:
    """The files that saltern has written and that hold the secret, in any page of them."""
    files = [path for path in (place.base / "runs").rglob("*") if path.is_file()]
    return [path for path in files if SECRET.encode() in path.read_bytes()]
