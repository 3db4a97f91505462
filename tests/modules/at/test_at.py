"""``at``, with its programs played by a fake host that keeps a queue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost

from saltern.modules.functions import at as at_functions
from saltern.modules.states import at
from saltern.system.process import Ran


class Queue(ScriptedHost):
    def __init__(self) -> None:
        super().__init__({})
        self.jobs: dict[int, str] = {}

    def run(self, command: str | Sequence[str], **options: object) -> Ran:
        argv = list(command)
        if argv[0] == "atq":
            return Ran(0, "".join(f"{job}\tThu Nov 15 12:00:00 2026 a root\n" for job in self.jobs))
        if argv[0] == "atrm":
            for job in argv[1:]:
                del self.jobs[int(job)]
        elif argv[1] == "-c":
            return Ran(0, f"#!/bin/sh\ncd /root\n{self.jobs[int(argv[2])]}\n")
        elif argv[1] == "garbled":
            return Ran(1, err="syntax error. Last token seen: g\nGarbled time\n")
        else:
            self.jobs[max(self.jobs, default=0) + 1] = str(options["stdin"])
        return Ran(0)


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def bench(tmp_path: Path, queue: Queue) -> Bench:
    return Bench(tmp_path, at, functions={"at": at_functions}, host=queue)


def test_a_job_waits_once(bench: Bench, queue: Queue) -> None:
    done = bench.change("present", "echo one", timespec="now + 1 hour", tag="love")
    assert done.changes == {"job": "echo one", "timespec": "now + 1 hour", "tag": "love"}
    assert queue.jobs == {1: "### SALT: love\necho one\n"}
    bench.same("present", "echo two", timespec="now + 1 hour", tag="love", unique_tag=True)
    bench.change("present", "title", job="echo two", timespec="now + 1 hour")
    assert bench.change("absent", "x", tag="love").changes == {"removed": [1]}
    assert bench.change("absent", "all").changes == {"removed": [2]}


def test_jobs_are_chosen_by_their_time(bench: Bench, queue: Queue) -> None:
    """The queue has them all at noon of 15 November 2026."""
    bench.change("present", "echo one", timespec="now + 1 hour", tag="love")
    for other in (
        {"day": 14},
        {"hour": 13},
        {"minute": 1},
        {"month": 10},
        {"year": 25},
        {"tag": "x", "day": 15},
    ):
        bench.same("absent", "x", **other)
    wanted = {"year": 2026, "month": 11, "day": 15, "hour": "12", "minute": 0, "tag": "love"}
    assert bench.change("absent", "x", **wanted).changes == {"removed": [1]}


def test_a_watched_change_queues_it(bench: Bench, queue: Queue) -> None:
    bench.same("watch", "echo", timespec="noon")
    assert bench.react("watch", "echo", timespec="noon").changes["job"] == "echo"
    assert list(queue.jobs) == [1]
    assert "cannot react" in bench.react("absent", "x").comment


def test_what_cannot_be_is_refused_in_words(bench: Bench) -> None:
    assert "Garbled time" in bench.refusal("present", "x", timespec="garbled")
    assert "timespec cannot be '-f x'" in bench.refusal("present", "x", timespec="-f x")
    assert "unique_tag needs a tag" in bench.refusal("present", "x", timespec="noon", unique_tag=True)
    assert "give jobid, tag or runas" in bench.refusal("absent", "x")


def test_functions_look_and_queue(bench: Bench) -> None:
    salt = bench.salt
    made = salt["at.at"]("noon", "echo", tag="t")
    assert isinstance(made, dict) and made["jobs"][0]["tag"] == "t"
    assert "echo" in str(salt["at.atc"](1))
    assert salt["at.atrm"](1) == {"jobs": {"removed": [1], "tag": None}}
    assert salt["at.atq"]() == {"jobs": []}
