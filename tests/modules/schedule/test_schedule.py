"""``schedule``: jobs in a file of the configuration."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from tests.modules.bench import Bench

from saltern.config.files import mapping
from saltern.config.load import load
from saltern.config.settings import Settings
from saltern.language.result import Outcome
from saltern.modules.api.refused import Refused
from saltern.modules.functions import schedule as functions
from saltern.modules.lib.schedules import store, times
from saltern.modules.states import schedule

NIGHTLY: dict[str, Any] = {"function": "state.apply", "job_args": ["backup"], "cron": "30 2 * * *"}


@pytest.fixture
def main(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "saltern.yaml").write_text("id: here\n")
    return tmp_path / "etc" / "saltern.yaml"


@pytest.fixture
def bench(tmp_path: Path, main: Path) -> Bench:
    made = Bench(tmp_path, schedule, functions={"schedule": functions})
    made.run.settings = Settings(files=[str(main)])
    return made


@pytest.fixture
def file(main: Path) -> Path:
    return main.parent / "saltern.d" / "_schedule.conf"


def test_a_job_is_added_changed_and_removed_once(bench: Bench, file: Path, main: Path) -> None:
    done = bench.change("present", "nightly", **NIGHTLY)
    assert done.changes == {"nightly": "added"}
    kept = {
        "name": "nightly",
        "function": "state.apply",
        "args": ["backup"],
        "cron": "30 2 * * *",
        "maxrunning": 1,
        "enabled": True,
        "jid_include": True,
    }
    assert mapping(str(file)) == {"schedule": {"nightly": kept}}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    changed = bench.change("present", "nightly", function="state.apply", job_args=["backup"], hours=6)
    now = {**{key: value for key, value in kept.items() if key != "cron"}, "hours": 6}
    assert changed.changes == {"nightly": {"old": kept, "new": now}}
    settings, problems = load(str(main), {}, {})
    assert (settings.extra["schedule"], problems) == ({"nightly": now}, [])
    assert bench.change("absent", "nightly").changes == {"nightly": "removed"}
    assert mapping(str(file)) == {"schedule": {}}


def test_a_job_is_switched_off_and_on(bench: Bench) -> None:
    bench.change("present", "nightly", **NIGHTLY)
    bench.same("enabled", "nightly")
    assert bench.change("disabled", "nightly").changes == {"nightly": "disabled"}
    assert bench.change("enabled", "nightly").changes == {"nightly": "enabled"}
    assert "not present" in bench.refusal("enabled", "none")
    assert bench.call("enabled", "none", test=True).outcome is Outcome.WOULD_CHANGE
    bench.same("disabled", "none")


def test_jobs_of_other_places_are_changed_there(bench: Bench, main: Path, file: Path) -> None:
    bench.run.pillar["schedule"] = {"told": {"function": "test.ping", "hours": 1}}
    main.write_text("schedule: {set: {function: test.ping, hours: 1}}\n")
    assert "defined in the pillar" in bench.refusal("present", "told", **NIGHTLY)
    assert "defined in the configuration" in bench.refusal("absent", "set")
    assert not file.exists()


def test_every_key_of_a_job_is_taken(bench: Bench) -> None:
    whole: dict[str, Any] = {
        "function": "test.ping",
        "days": "1",
        "hours": 2,
        "splay": {"start": 1, "end": 2},
        "maxrunning": 3,
        "range": {"start": "8am", "end": "17:00", "invert": True},
        "run_on_start": True,
        "return_job": False,
        "skip_during_range": {"start": "2pm", "end": "3pm"},
        "run_after_skip_range": True,
        "enabled": False,
        "until": "12/31/2027 11:59pm",
        "after": "2027-01-01",
        "job_kwargs": {"test": True},
        "jid_include": False,
        "returner": ["mail", "file"],
        "return_config": "x",
        "return_kwargs": {"a": 1},
        "metadata": {"b": 2},
    }
    job = bench.change("present", "whole", **whole).data["job"]
    assert isinstance(job, dict) and (job["days"], job["kwargs"], job["splay"]) == (
        1,
        {"test": True},
        {"start": 1, "end": 2},
    )
    bench.change("present", "once", function="test.ping", once="2027-01-31T17:00:00")
    bench.change("present", "once", function="test.ping", once="31.1.2027", once_fmt="%d.%m.%Y")
    bench.run.grains["whens"] = {"tea time": "5pm"}
    bench.change("present", "when", function="test.ping", when=["Monday 5:00pm", "tea time"], job_args=[])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "is never run"),
        ({"function": "ping", "hours": 1}, "the name of a function"),
        ({"hours": 0}, "from 1 on"),
        ({"hours": 1.5}, "whole number"),
        ({"hours": 1, "cron": "* * * * *"}, "cannot be combined"),
        ({"when": "5pm", "once": "2027-01-31T17:00:00"}, "cannot be combined"),
        ({"cron": "* * * *"}, "five fields"),
        ({"cron": "60 * * * *"}, "cannot be the minute"),
        ({"cron": "*/0 * * * *"}, "cannot be the minute"),
        ({"cron": "* * * * fri-mon"}, "cannot be the day of the week"),
        ({"when": "some day"}, "when cannot be 'some day'"),
        ({"when": []}, "when is empty"),
        ({"once": "tomorrow"}, "in the format"),
        ({"hours": 1, "range": {"start": "8am"}}, "a mapping with start and end"),
        ({"hours": 1, "splay": {"start": 2, "end": 1}}, "greater than start"),
        ({"hours": 1, "job_args": "a"}, "must be a list"),
        ({"hours": 1, "until": "2027-02-30"}, "no such day"),
        ({"hours": 1, "persist": False}, "is not supported: a job is always kept"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    bench: Bench, file: Path, given: dict[str, Any], words: str
) -> None:
    assert words in bench.refusal("present", "job", **{"function": "test.ping", **given})
    assert not file.exists()


def test_a_misspelt_function_is_doubted(bench: Bench) -> None:
    assert bench.call("present", "job", function="tset.ping", hours=1).warnings == (
        "no function is called 'tset.ping' here",
    )
    assert bench.call("present", "job", function="state.apply", hours=1).warnings == ()


def test_a_file_that_is_no_schedule_is_reported(bench: Bench, file: Path) -> None:
    file.parent.mkdir()
    file.write_text("schedule: [1]\n")
    assert "must be a mapping of jobs" in bench.refusal("present", "nightly", **NIGHTLY)
    file.write_text("schedule: {job: 1}\n")
    assert "the job 'job' must be a mapping" in bench.refusal("absent", "nightly")


@pytest.mark.parametrize(
    "text",
    [
        *("5:00pm", "17:00", "5 pm", "Monday 5:00pm", "tue 08:30:15", "2027-01-31", "2027-01-31T08:00:00"),
        *("01/31/2027 8am", "Jan 31, 2027 8:00", "31 January 2027", "Friday, 29 Feb 10:00"),
    ],
)
def test_times_are_read_as_people_write_them(text: str) -> None:
    assert times.moment(text, "when") == text


@pytest.mark.parametrize(
    "text", ["", "17", "25:00", "13pm", "12:60", "2027-13-01", "soon", "5pm 6pm", "Feb 30"]
)
def test_times_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(Refused):
        times.moment(text, "when")


@pytest.mark.parametrize("text", ["*/5 * * * *", "0 0 1,15 jan-mar sun", "5-10/2 0 * 12 7", "@daily"])
def test_cron_fields_are_read(text: str) -> None:
    assert times.cron(text) == text


def test_functions_keep_the_same_file(bench: Bench, file: Path) -> None:
    salt = bench.salt
    assert salt["schedule.list"]() == {"schedule": {}}
    assert salt["schedule.add"]("job", function="test.ping", seconds=30, test=True) == {
        "comment": "Job: job would be added to schedule.",
        "changes": {},
        "result": True,
    }
    assert not file.exists()
    added = salt["schedule.add"]("job", function="test.ping", seconds=30)
    assert added == {"comment": "Added job: job to schedule.", "changes": {"job": "added"}, "result": True}
    again: Any = salt["schedule.add"]("job", function="test.ping", seconds=30)
    assert again["result"] is False and "already exists" in again["comment"]
    assert "seconds: 30" in str(salt["schedule.list"]())
    changed: Any = salt["schedule.modify"]("job", minutes=5)
    assert changed["changes"]["job"]["new"]["function"] == "test.ping"
    assert salt["schedule.modify"]("job", minutes=5)["comment"] == "Job job in correct state"  # type: ignore[index]
    wrong: Any = salt["schedule.modify"]("job", minute=5)
    assert wrong["result"] is False and "did you mean 'minutes'" in wrong["comment"]
    assert salt["schedule.delete"]("none")["result"] is False  # type: ignore[index]
    assert salt["schedule.delete"]("job")["changes"] == {"job": "removed"}  # type: ignore[index]


def test_functions_switch_jobs_and_the_whole(bench: Bench) -> None:
    salt = bench.salt
    salt["schedule.add"]("job", function="test.ping", seconds=30)
    assert salt["schedule.disable_job"]("job")["changes"] == {"job": "disabled"}  # type: ignore[index]
    assert salt["schedule.is_enabled"]("job") == {}
    assert salt["schedule.list"](show_disabled=False, return_yaml=False) == {}
    assert salt["schedule.enable_job"]("job")["changes"] == {"job": "enabled"}  # type: ignore[index]
    assert salt["schedule.is_enabled"]("job")["seconds"] == 30  # type: ignore[index]
    assert salt["schedule.is_enabled"]() is True
    assert salt["schedule.disable"]()["changes"] == {"schedule": "disabled"}  # type: ignore[index]
    assert salt["schedule.is_enabled"]() is False
    assert salt["schedule.enable"]()["result"] is True  # type: ignore[index]
    assert salt["schedule.save"]() == {"comment": "Schedule (non-pillar items) saved.", "result": True}
    assert salt["schedule.reload"]() == {"comment": ["Reloaded schedule from configuration."], "result": True}
    bench.run.pillar["schedule"] = {"told": {"function": "test.ping", "hours": 1}}
    listed: Any = salt["schedule.list"](where="pillar", return_yaml=False)
    assert list(listed) == ["told"]
    assert salt["schedule.purge"]()["changes"] == {"job": "removed"}  # type: ignore[index]
    assert list(salt["schedule.list"](return_yaml=False)) == ["told"]  # type: ignore[call-overload]
    built: Any = salt["schedule.build_schedule_item"]("x", function="test.ping")
    assert built["result"] is False and "never run" in built["comment"]


def test_the_file_is_beside_what_the_configuration_includes(bench: Bench, tmp_path: Path) -> None:
    def place(**settings: Any) -> str:
        bench.run.settings = Settings(**settings)
        return store.path_of(bench.context())

    assert place(files=["/etc/salt/minion"]) == "/etc/salt/minion.d/_schedule.conf"
    included = place(files=["/etc/salt/minion"], extra={"default_include": "more/*.conf"})
    assert included == "/etc/salt/more/_schedule.conf"
    assert place().endswith("saltern/saltern.d/_schedule.conf")
