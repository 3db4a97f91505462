"""``jobs``: the jobs of the fleet, in the format of Salt's runners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from saltern.fleet.client.problems import ControllerError
from saltern.fleet.runners.ports import Around
from saltern.fleet.view.outcomes import shape_of, strip_label
from saltern.system.clock import stamp

Row = Mapping[str, Any]
NO_JOB = "Cannot contact returner or no job with this jid"
MOST = 1000  # jobs that a list has


def active(around: Around, display_progress: bool = False) -> dict[str, Any]:  # noqa: ARG001
    """The jobs that have not ended on all systems."""
    found: dict[str, Any] = {}
    for row in around.ask.jobs.list(open=True):
        targets = list(around.ask.jobs.targets(row["jid"]))
        running = [one["system"] for one in targets if one["ended"] is None and one["status"] in RUNNING]
        ended = [one["system"] for one in targets if one["status"] in RETURNED]
        found[row["jid"]] = {
            **_shape(around.ask.jobs.get(row["jid"])),
            "Running": [{system: None} for system in running],
            "Returned": ended,
        }
    return found


RUNNING, RETURNED = frozenset({"sent", "running", "down"}), frozenset({"returned", "failed"})


def lookup_jid(
    around: Around,
    jid: str,
    ext_source: str | None = None,  # noqa: ARG001
    returned: bool = True,
    missing: bool = False,
    display_progress: bool = False,  # noqa: ARG001
) -> dict[str, Any]:
    """What the systems of a job returned."""
    found = list_job(around, jid)
    answers = found["Result"]
    values = {name: one["return"] for name, one in answers.items()} if returned else {}
    if missing:
        values |= {name: "Minion did not return" for name in found.get("Minions", ()) if name not in answers}
    states = any(one.get("out") for one in answers.values())
    return {"outputter": "highstate", "data": values} if states else values


def list_job(
    around: Around,
    jid: str,
    ext_source: str | None = None,  # noqa: ARG001
    display_progress: bool = False,  # noqa: ARG001
) -> dict[str, Any]:
    """A job, with what the systems returned."""
    return {"jid": jid, **_detail(around, jid)}


def print_job(around: Around, jid: str, ext_source: str | None = None) -> dict[str, Any]:  # noqa: ARG001
    """A job by its number, with what the systems returned."""
    return {jid: _detail(around, jid)}


def list_jobs(
    around: Around,
    ext_source: str | None = None,  # noqa: ARG001
    outputter: str | None = None,  # noqa: ARG001
    search_metadata: object = None,  # noqa: ARG001
    search_function: object = None,
    search_target: object = None,
    start_time: object = None,
    end_time: object = None,
    display_progress: bool = False,  # noqa: ARG001
) -> dict[str, Any]:
    """The matching jobs, by their numbers."""
    rows = _list_jobs(around, search_function, search_target)
    first, last = _digits(start_time), _digits(end_time)
    return {
        row["jid"]: _listed_shape(row)
        for row in islice(rows, MOST)
        if (not first or _digits(row["jid"]) >= first) and (not last or _digits(row["jid"]) <= last)
    }


def list_jobs_filter(
    around: Around,
    count: int,
    filter_find_job: bool = True,  # noqa: ARG001
    ext_source: str | None = None,  # noqa: ARG001
    outputter: str | None = None,  # noqa: ARG001
    display_progress: bool = False,  # noqa: ARG001
) -> dict[str, Any]:
    """The newest jobs."""
    return {row["jid"]: _listed_shape(row) for row in islice(around.ask.jobs.list(), int(count))}


def exit_success(around: Around, jid: str, ext_source: str | None = None) -> dict[str, bool]:  # noqa: ARG001
    """For each system of a job, whether it returned something true, and did not fail."""
    return {
        row["system"]: row["status"] == "returned" and not row["exit_code"]
        for row in around.ask.jobs.targets(jid)
    }


def last_run(
    around: Around,
    ext_source: str | None = None,  # noqa: ARG001
    outputter: str | None = None,  # noqa: ARG001
    metadata: object = None,  # noqa: ARG001
    function: object = None,
    target: object = None,
    display_progress: bool = False,  # noqa: ARG001
) -> dict[str, Any] | bool:
    """The newest matching job, with its returns; false if there is none."""
    newest = next(_list_jobs(around, function, target), None)
    return print_job(around, newest["jid"]) if newest else False


def _list_jobs(around: Around, function: object, target: object) -> Iterator[Row]:
    functions, targets = _patterns(function), _patterns(target)
    for row in around.ask.jobs.list():
        if _fits(row["function"], functions) and _fits(row["target"], targets):
            yield row


def _patterns(given: object) -> list[str]:
    if given is None:
        return []
    return [str(one) for one in given] if isinstance(given, list) else str(given).split(",")


def _fits(text: str, patterns: list[str]) -> bool:
    return not patterns or any(fnmatchcase(text, one) for one in patterns)


def _digits(value: object) -> str:
    """A time or the number of a job, as digits that sort."""
    return "".join(char for char in str(value or "") if char.isdigit())[:14]


def _detail(around: Around, jid: str) -> dict[str, Any]:
    try:
        job = around.ask.jobs.get(jid)
    except ControllerError as problem:
        if problem.status != 404:
            raise
        return {"Error": NO_JOB, "StartTime": "", "Result": {}}
    states = shape_of(job["function"]) == "states"
    answers = {
        row["system"]: {
            "return": strip_label(job["function"], row.get("body")),
            "retcode": row["exit_code"],
            "success": row["status"] == "returned",
            **({"out": "highstate"} if states else {}),
        }
        for row in around.ask.jobs.returns(jid)
    }
    systems = [row["system"] for row in around.ask.jobs.targets(jid)]
    return {**_shape(job), "Minions": systems, "Result": answers}


def _shape(job: Row) -> dict[str, Any]:
    keywords = {**job["kwargs"], "__kwarg__": True} if job["kwargs"] else None
    return {**_listed_shape(job), "Arguments": [*job["args"], *([keywords] if keywords else [])]}


def _listed_shape(job: Row) -> dict[str, Any]:
    return {
        "Function": job["function"],
        "Arguments": [],
        "Target": job["target"],
        "Target-type": "compound",
        "User": job["user"],
        "StartTime": stamp(job["created"], "%Y, %b %d %H:%M:%S"),
    }


RUNNERS = {
    "jobs.active": active,
    "jobs.exit_success": exit_success,
    "jobs.last_run": last_run,
    "jobs.list_job": list_job,
    "jobs.list_jobs": list_jobs,
    "jobs.list_jobs_filter": list_jobs_filter,
    "jobs.lookup_jid": lookup_jid,
    "jobs.print_job": print_job,
}
