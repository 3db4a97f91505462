"""Chef: what a real Chef 17.10 has said, recorded, and the same with the Chef of the machine, where it is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.modules.chef.runs import RUNS, Chef
from tests.modules.engine import CHANGED, FAILED, NOT_REACHED, OK, SKIPPED, WOULD

from saltern.language.result import Outcome


def test_every_word(chef: Chef) -> None:
    result = chef.play("first")
    assert (result.outcome, result.data["retcode"]) == (Outcome.OK, 0)
    assert [(step.id, step.fun) for step in chef.told] == [
        ("file[motd]", "file.create"),
        ("file[secret]", "file.create"),
        ("execute[guarded]", "execute.run"),
        ("execute[notified]", "execute.nothing"),
        ("execute[ignored]", "execute.run"),
        ("pair[two]", "pair.make"),
        ("execute[notified]", "execute.run"),
    ]
    assert chef.words() == {
        "file[motd]": CHANGED,
        "file[secret]": CHANGED,
        "execute[guarded]": SKIPPED,
        "execute[notified]": CHANGED,
        "execute[ignored]": OK,
        "pair[two]": CHANGED,
    }
    assert result.comment == "7 resources: 4 changed, 1 ok, 2 skipped"
    assert "+noon" in str(chef["file[motd]"].changes["diff"])
    assert chef["execute[guarded]"].comment == "skipped due to not_if"
    assert chef["execute[ignored]"].comment.startswith("failed, but ignored: ")
    assert chef.told[-1].data["notified"] == "delayed"
    assert [(inner.id, bool(inner.changes)) for inner in chef["pair[two]"].sub] == [
        ("directory[inner directory]", True),
        ("file[inner file]", True),
    ]
    assert (chef["file[motd]"].data["cookbook"], chef["file[motd]"].timed) == ("shop", True)


def test_a_second_run_changes_nothing(chef: Chef) -> None:
    result = chef.play("again")
    assert (result.outcome, result.comment) == (Outcome.OK, "6 resources: 4 ok, 2 skipped")
    assert chef["file[motd]"].comment == "up to date"
    assert [inner.changes for inner in chef["pair[two]"].sub] == [{}, {}]


def test_test_mode_is_why_run(chef: Chef) -> None:
    result = chef.play("why-run")
    assert (result.outcome, result.data["why_run"]) == (Outcome.WOULD_CHANGE, True)
    assert chef.words()["file[motd]"] == WOULD
    assert chef["pair[two]"].sub[0].outcome is Outcome.WOULD_CHANGE
    assert not (chef.base / "target" / "motd").exists()


def test_a_failed_resource_and_what_is_not_reached(chef: Chef) -> None:
    result = chef.play("fails")
    assert (result.outcome, result.data["retcode"]) == (Outcome.FAILED, 1)
    assert chef.words() == {
        "file[before]": CHANGED,
        "execute[fails]": FAILED,
        "execute[never reached]": NOT_REACHED,
    }
    assert "STDERR: oh no" in chef["execute[fails]"].comment
    assert chef["execute[fails]"].data["retries"] == 1
    assert "failed: execute[fails]" in result.comment
    assert str(result.data["log"]) in result.comment


def test_what_is_sensitive_stays_hidden(chef: Chef) -> None:
    told = [f"{chef.play(name)}{chef.told}" for name in ("first", "again", "why-run", "secret")]
    assert not [text for text in told if "hunter" in text]
    assert "suppressed for sensitive resource" in chef["execute[quiet]"].comment


def test_a_recipe_that_cannot_be_read(chef: Chef) -> None:
    result = chef.play("broken")
    assert (result.outcome, chef.told) == (Outcome.FAILED, [])
    assert "undefined method `nosuch' for cookbook: shop, recipe: broken" in result.comment


def test_solo_takes_what_salt_calls_with_dashes(chef: Chef) -> None:
    chef.fun, chef.usual = "solo", {}
    result = chef.play("first", **{"override-runlist": ["recipe[shop]"], "node-name": "here"})
    assert (result.outcome, chef["file[motd]"].outcome) == (Outcome.OK, Outcome.OK)
    odd = chef.play("first", **{"overide-runlist": "x"})
    assert odd.comment == "no argument is called 'overide-runlist'; did you mean 'override_runlist'?"


def test_a_run_that_takes_too_long_is_ended(real: Chef) -> None:
    RUNS["slow"] = ("slow", (), False)
    result = real.play("slow", timeout=8)
    assert "took longer than its timeout" in result.comment
    assert real.words() == {"execute[slow]": FAILED, "execute[after]": NOT_REACHED}


PROGRAM = """#!/bin/sh
printf '%s\\n' "$@" > "{base}/argv"
for word; do case $word in --config=*) cat "${{word#--config=}}" > "{base}/config";; esac; done
for word; do case $word in --json-attributes=*) cat "${{word#*=}}" > "{base}/attributes";; esac; done
{rest}
"""


def stand_in(chef: Chef, rest: str) -> str:
    """A program that notes how it was called."""
    place = chef.base / "bin"
    place.mkdir()
    (place / "chef-client").write_text(PROGRAM.format(base=chef.base, rest=rest))
    (place / "chef-client").chmod(0o755)
    return str(place)


def test_the_configuration_of_the_user_comes_first_and_values_in_private_files(recorded: Chef) -> None:
    place = stand_in(recorded, "exit 0")
    own = recorded.base / "it's mine.rb"
    own.write_text("")
    arguments = {"json_attributes": {"word": "hunter2"}, "runlist": ["recipe[a]", "recipe[b]"]}
    result = recorded.run("x", test=True, bin_dir=place, config=str(own), **arguments)
    argv = (recorded.base / "argv").read_text()
    assert "hunter2" not in argv
    assert {"--once", "--local-mode", "--why-run", "--runlist=recipe[a],recipe[b]"} <= set(argv.splitlines())
    assert json.loads((recorded.base / "attributes").read_text()) == {"word": "hunter2"}
    lines = (recorded.base / "config").read_text().splitlines()
    assert lines[1] == f"from_file '{recorded.base}/it\\'s mine.rb'"
    assert lines[-1] == "event_handlers << SalternChef.new"
    assert result.outcome is Outcome.OK
    assert recorded.told[0].name == "unparsed output"


@pytest.mark.parametrize(
    ("code", "outcome", "words"),
    [
        (37, Outcome.OK, "needs a reboot"),
        (35, Outcome.OK, "has scheduled a reboot"),
        (2, Outcome.FAILED, "exit code 2 (interrupted)"),
        (43, Outcome.FAILED, "exit code 43 (a bad configuration)"),
    ],
)
def test_exit_codes(recorded: Chef, code: int, outcome: Outcome, words: str) -> None:
    result = recorded.run("x", bin_dir=stand_in(recorded, f"exit {code}"))
    assert result.outcome is outcome
    assert words in f"{result.comment}{result.warnings}"


def test_output_that_is_no_text_or_no_event(recorded: Chef) -> None:
    plan = '{"event":"plan","resources":["a[b]"]}'
    rest = rf"printf 'a\377b\n'; printf '\036{{\n\036[]\n\036{plan}\n' >&2"
    result = recorded.run("x", bin_dir=stand_in(recorded, f"{rest}\nexit 1"))
    assert (result.outcome, result.warnings) == (Outcome.FAILED, ("2 events could not be read",))
    assert recorded.words() == {"a[b]": NOT_REACHED}


def test_the_program_or_a_file_is_not_there(recorded: Chef, tmp_path: Path) -> None:
    missing = recorded.run("x", bin_dir=str(tmp_path))
    assert "chef-client was not found in" in missing.comment
    assert "or Cinc Client from cinc.sh" in missing.comment
    place = stand_in(recorded, "exit 0")
    wrong = recorded.run("x", bin_dir=place, config="/nowhere.rb")
    assert wrong.comment == "no configuration of Chef is at /nowhere.rb"
    odd = recorded.run("x", bin_dir=place, json_attributes=[1])
    assert odd.comment == "json_attributes must be a mapping, a file or a URL"
    assert not os.path.exists(recorded.base / "argv")
