"""``saltern plan``, and ``saltern apply FILE``: what was shown is done, or nothing is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.e2e.command import Done, Place, forked

STATES = {
    "web.sls": """\
{% set out = pillar['out'] %}
conf:
  file.managed:
    - name: {{ out }}/conf
    - contents: |
        port {{ pillar['port'] }}
        {% include 'more.jinja' %}
new:
  file.managed:
    - name: {{ out }}/new
    - contents: new
    - require: [{file: conf}]
old:
  file.absent:
    - name: {{ out }}/old
key:
  cmd.run:
    - name: echo secret
    - creates: {{ out }}/key
    - register: key
uses-key:
  file.managed:
    - name: {{ out }}/key
    - contents: ${delayed:key.data.stdout}
    - delayed_render:
      - block: after
fine:
  test.nop
#!delayed_block after
last:
  test.nop
#!end_delayed_block
""",
    "more.jinja": "more\n",
}


@pytest.fixture
def web(place: Place) -> Place:
    place.write(STATES)
    (place.base / "out").mkdir()
    (place.base / "out" / "conf").write_text("port 79\nmore\n")
    (place.base / "out" / "old").write_text("old")
    return place


def pillar(place: Place, port: int = 80) -> str:
    return f"--pillar={{out: {place.base / 'out'}, port: {port}}}"


def planned(place: Place, *words: str) -> Done:
    return place.run("plan", "web", pillar(place), *words)


def saved(place: Place) -> str:
    path = str(place.base / "web.plan")
    assert planned(place, "-o", path).code == 0
    return path


def applied(place: Place, path: str, *words: str) -> Done:
    """Where the states come from is said again: a plan does not decide it."""
    return place.run("apply", path, *words)


def out_files(place: Place) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((place.base / "out").iterdir())}


def test_a_plan_tells_of_each_state_what_it_creates_changes_and_deletes(web: Place) -> None:
    before = out_files(web)
    done = planned(web)
    assert done.code == 0
    signs = {
        line.split()[2]: line[0] for line in done.out.splitlines() if line[:2] in ("+ ", "~ ", "- ", "? ")
    }
    assert signs == {"conf": "~", "new": "+", "old": "-", "key": "~", "uses-key": "?"}
    assert "    -port 79\n    +port 80\n" in done.out
    assert "known after key is applied" in done.out
    assert "? delayed.block  after" in done.out
    assert "fine" not in done.out
    told = "Plan: 1 to create, 2 to change, 1 to delete, 2 known after apply, 1 stays as it is."
    assert told in done.out
    assert out_files(web) == before


def test_a_plan_is_data_for_who_asks_for_it(web: Place) -> None:
    body = json.loads(planned(web, "--out", "json").out)["local"]
    assert body["totals"] == {"create": 1, "change": 2, "delete": 1, "later": 2, "fail": 0, "keep": 1}
    assert [row["kind"] for row in body["states"] if row["id"] == "old"] == ["delete"]


def test_a_plan_has_colours_where_they_are_wanted(web: Place) -> None:
    assert "\x1b[0;32m+port 80" in planned(web, "--color").out


def test_a_plan_of_what_is_done_says_that_nothing_is_to_do(web: Place) -> None:
    web.write({"done.sls": "a: test.nop\nb: test.nop\n"})
    done = web.run("plan", "done", "--detailed-exitcode")
    assert (done.code, done.out) == (0, "Nothing to do: 2 states are as described.\n")


def test_the_exit_code_of_a_plan_tells_of_changes_and_failures(web: Place) -> None:
    assert planned(web, "--detailed-exitcode").code == 4
    web.write({"bad.sls": "a: test.fail_without_changes\n"})
    done = web.run("plan", "bad")
    assert done.code == 2
    assert "1 would fail" in done.out


def test_a_saved_plan_is_applied_with_what_is_known_only_then(web: Place) -> None:
    done = applied(web, saved(web), "--out", "json")
    assert done.code == 0, done
    assert out_files(web) == {"conf": "port 80\nmore\n", "key": "secret\n", "new": "new\n"}
    assert "last" in done.answers()


def test_a_saved_plan_is_for_its_owner_only(web: Place) -> None:
    assert Path(saved(web)).stat().st_mode & 0o777 == 0o600


MOVES = {
    "what it would change": ("out/conf", "port 78\n", "'conf'"),
    "what is there": ("out/new", "new\n", "'new'"),
    "what is gone": ("out/old", None, "'old'"),
    "a state file": ("states/web.sls", STATES["web.sls"] + "another:\n  test.nop\n", "web.sls has changed"),
    "a template": ("states/more.jinja", "other\n", "more.jinja has changed"),
}


@pytest.mark.parametrize("moved", MOVES)
def test_a_plan_is_refused_when_the_world_moved(web: Place, moved: str) -> None:
    path = saved(web)
    name, text, told = MOVES[moved]
    place = web.base / name
    if text is None:
        place.unlink()
    else:
        place.write_text(text)
    before = out_files(web)
    done = applied(web, path)
    assert done.code == 1
    assert told in done.err
    assert "[plan-moved]" in done.err
    assert f"fix: saltern apply {path} --replan" in done.err
    assert out_files(web) == before


def test_a_plan_is_refused_when_the_pillar_moved(web: Place) -> None:
    web.write({"pillar/top.sls": "base: {'*': [a]}\n", "pillar/a.sls": "size: 1\n"})
    path = saved(web)
    web.write({"pillar/a.sls": "size: 2\n"})
    assert "the pillar key 'size' has changed" in applied(web, path).err


def test_a_plan_is_refused_when_a_grain_it_asked_for_moved(web: Place) -> None:
    grains = web.base / "grains.yaml"
    grains.write_text("colour: red\n")
    path = str(web.base / "web.plan")
    assert planned(web, "-o", path, f"--grains={grains}").code == 0
    grains.write_text("colour: blue\n")
    assert "the grain 'colour' has changed" in applied(web, path, f"--grains={grains}").err


def test_a_plan_that_is_done_is_not_done_again(web: Place) -> None:
    path = saved(web)
    assert applied(web, path).code == 0
    done = applied(web, path)
    assert done.code == 1
    assert "in the plan it would be created, now it would stay as it is" in done.err


def test_a_plan_is_made_anew_by_replan(web: Place) -> None:
    path = saved(web)
    (web.base / "out" / "conf").write_text("port 78\n")
    done = applied(web, path, "--replan")
    assert "-port 78" in done.out
    assert out_files(web)["conf"] == "port 78\n"
    assert applied(web, path).code == 0
    assert out_files(web)["conf"] == "port 80\nmore\n"


def test_a_run_of_a_plan_is_one_of_the_runs(web: Place) -> None:
    path = saved(web)
    assert forked(["runs"], web.base).out.count("\n") <= 1
    assert applied(web, path).code == 0
    assert "web" in forked(["runs"], web.base).out


def test_a_refused_plan_leaves_no_run_behind(web: Place) -> None:
    path = saved(web)
    (web.base / "out" / "conf").write_text("port 78\n")
    before = forked(["runs"], web.base).out
    assert applied(web, path).code == 1
    assert forked(["runs"], web.base).out == before


@pytest.mark.parametrize("words", [["--test"], ["--pillar", "{}"], ["--id", "x"]], ids=" ".join)
def test_options_that_a_plan_has_decided_are_refused(web: Place, words: list[str]) -> None:
    done = applied(web, saved(web), *words)
    assert done.code == 1
    assert "[plan-decided]" in done.err


def test_a_plan_that_was_edited_or_cut_is_refused(web: Place) -> None:
    path = Path(saved(web))
    text = path.read_text()
    other = text.replace('"sum":"', '"sum":"0', 1)
    for broken in (text[: len(text) // 2], other, text.replace(":1,", ":99,", 1)):
        path.write_text(broken)
        done = applied(web, str(path))
        assert done.code == 1
        assert "[plan-unreadable]" in done.err


def test_a_file_that_is_no_plan_is_reported_as_such(web: Place) -> None:
    done = applied(web, str(web.states / "web.sls"))
    assert done.code == 1
    assert "--template" in done.err


def test_a_file_beside_us_does_not_hide_the_sls_of_its_name(web: Place) -> None:
    web.write({"mine.sls": "a: test.nop\n"})
    (web.base / "mine").write_text("something else")
    done = forked(["apply", "mine", f"--file-root={web.states}", "--out", "json"], web.base)
    assert list(done.answers()) == ["a"]


def test_a_state_of_a_plan_knows_its_line(web: Place) -> None:
    web.write({"web.sls": "{% set id = 'made' %}\n{{ id }}-here:\n  test.fail_without_changes\n"})
    path = str(web.base / "web.plan")
    assert planned(web, "-o", path).code == 2
    done = applied(web, path)
    assert done.code == 2
    assert "web.sls:2" in done.out


def test_keys_that_are_numbers_survive_in_a_plan(web: Place) -> None:
    web.write({"web.sls": "a:\n  file.serialize:\n    - name: {{ pillar['out'] }}/a\n    - serializer: yaml\n"
               "    - dataset: {80: http}\n"})  # fmt: skip
    assert applied(web, saved(web)).code == 0
    assert out_files(web)["a"] == "80: http\n"


# -- twice -----------------------------------------------------------------------------------------------


def test_a_second_run_that_changes_something_is_reported_by_name(place: Place) -> None:
    place.write({"main.sls": "again: {cmd.run: [name: 'true']}\nonce: {test.nop: []}\n"})
    done = place.run("apply", "main", "--check-idempotent", "--out", "quiet")
    assert done.code == 2
    assert "main.sls:1:9: the second run of cmd.run 'again' changed" in done.err
    assert "'creates', 'unless' or 'onlyif'" in done.err
    assert "once" not in done.err.split("fix:")[1]


def test_a_second_run_that_changes_nothing_is_fine(place: Place) -> None:
    place.write({"main.sls": f"{place.base}/file: {{file.managed: [contents: hi]}}\n"})
    done = place.run("apply", "main", "--check-idempotent", "--out", "quiet")
    assert done.code == 0
    assert "idempotent, the second run changed nothing" in done.err


def test_a_test_run_cannot_be_checked_for_idempotence(place: Place) -> None:
    place.write({"main.sls": "a: test.nop\n"})
    done = place.run("apply", "main", "--check-idempotent", "--test", "--out", "quiet")
    assert done.code == 1
    assert "[idempotence-untested]" in done.err


# -- profile ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["apply", "main"], ["plan", "main"], ["show", "lowstate", "main"]])
def test_a_profile_tells_phases_files_and_states(place: Place, command: list[str]) -> None:
    place.write({"main.sls": "include: [other]\nslow: {cmd.run: [name: sleep 0.05]}\n"})
    place.write({"other.sls": "b: test.nop\n"})
    done = place.run(*command, "--profile")
    assert done.code == 0, done
    for word in ("Where the time went", "rendering", "main.sls", "other.sls", "(2 in all)"):
        assert word in done.err
    if command[0] == "apply":
        slowest = done.err.split("Slowest states\n")[1].splitlines()[0]
        assert slowest.split()[:2] == ["cmd.run", "slow"]
    assert "Where the time went" not in done.out


def test_without_profile_nothing_is_measured(place: Place) -> None:
    place.write({"main.sls": "a: test.nop\n"})
    assert "time went" not in place.run("apply", "main").err


def test_what_is_not_there_yet_is_created_and_what_is_there_is_changed(tmp_path: Path) -> None:
    states = """\
somebody-new: user.present
root:
  user.present: [{shell: /bin/nosuchshell}]
"""
    done = Place(tmp_path).write({"main.sls": states}).run("plan", "main")
    assert "+ user.present  somebody-new" in done.out
    assert "~ user.present  root" in done.out
    assert "Plan: 1 to create, 1 to change." in done.out
