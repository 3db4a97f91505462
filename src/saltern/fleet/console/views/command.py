"""One function on a target, jobs, and a job with its answers: equal ones grouped, and the missing ones."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from saltern.fleet.console.ask import Ask
from saltern.fleet.console.forms import number_of, yaml_of
from saltern.fleet.console.row import Act, Data, Form, Page, Topic, Visit
from saltern.fleet.console.views.chains import count_target
from saltern.fleet.console.views.offers import buttons, job_offers

USED = 12  # earlier commands that are offered
LIVES = (
    ("", "as usual"),
    ("300", "5 minutes"),
    ("3600", "1 hour"),
    ("86400", "1 day"),
    ("0", "leave them out"),
)
SHELL = "cmd.run"
# Takes a machine down, whatever the number of them: it is confirmed as what is dangerous.
DOWN = frozenset(f"system.{word}" for word in ("halt", "init", "poweroff", "reboot", "shutdown"))
LONGEST = 100_000  # characters of an answer that a page shows


# -- a line of text and its parts -------------------------------------------------------------------------


def parse_command(line: str) -> tuple[str, list[Any], Data]:
    """``cmd.run 'openssl version' timeout=5`` → the function, its arguments and its keyword arguments.

    Values are read as YAML, as the command line does.
    """
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    if not words:
        return "", [], {}
    args: list[Any] = []
    kwargs: Data = {}
    for word in words[1:]:
        name, sign, value = word.partition("=")
        if sign and name.isidentifier():
            kwargs[name] = value_of(value)
        else:
            args.append(value_of(word))
    return words[0], args, kwargs


def value_of(text: str) -> Any:
    found = yaml_of(text)
    plain = found is None or isinstance(found, (bool, int, float, str))
    return found if plain or text[:1] in "[{" else text


def spell_command(function: str, args: list[Any], kwargs: Mapping[str, Any]) -> str:
    """The same as a line."""
    words = [_word(one) for one in args]
    words += [f"{name}={_word(value)}" for name, value in kwargs.items()]
    return " ".join([function, *(shlex.quote(one) for one in words)])


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def as_action(function: str, args: list[Any]) -> Data | None:
    """The equivalent action of a chain; None for a function without one."""
    if function in (SHELL, "cmd.shell", "cmd.run_all") and args:
        return {"command": str(args[0])}
    if function in ("state.apply", "state.sls") and args:
        return {"state": str(args[0]) if len(args) == 1 else [str(one) for one in args]}
    return {"highstate": {}} if function in ("state.apply", "state.highstate") else None


# -- pages ------------------------------------------------------------------------------------------------


async def gather_command(visit: Visit) -> Data:
    """The form; with a target and a function, the systems that match and the decision of the policy."""
    target, line = (visit.query.get(key, "").strip() for key in ("target", "run"))
    function, args, _ = parse_command(line)
    jobs = (await visit.ask.get("/v1/jobs", user=visit.me["name"], limit=50))["items"]
    found: Data = {
        "target": target,
        "run": line,
        "function": function,
        "test": visit.query.get("test") == "on",
        "lives": LIVES,
        "life": visit.query.get("life", ""),
        "used": _used_commands(jobs),
        "groups": await visit.ask.every("/v1/groups", most=500),
        "systems": None,
        "verdict": None,
        "action": as_action(function, args),
        "danger": function in DOWN,
    }
    if target and function:
        found |= await _aim(visit, target, function)
    return found


def _used_commands(jobs: list[Data]) -> list[Data]:
    """What this person ran before, without repetitions."""
    found: dict[tuple[str, str], Data] = {}
    for job in jobs:
        found.setdefault((job["function"], job["target"]), job)
    return list(found.values())[:USED]


async def _aim(visit: Visit, target: str, function: str) -> Data:
    systems = (await visit.ask.send("POST", "/v1/resolve", {"target": target}))["systems"]
    return {"systems": systems, "verdict": await _verdict(visit, target, function)}


async def _verdict(visit: Visit, target: str, function: str) -> Data | None:
    """The decision of the policy; None if the visitor may not read it: then only submitting shows it."""
    if not visit.may("policy.read"):
        return None
    body = {"who": visit.me["name"], "function": function, "target": target, "roles": visit.me["roles"]}
    found: Data = await visit.ask.send("POST", "/v1/policy/explain", body)
    return found


async def gather_jobs(visit: Visit) -> Data:
    names = ("user", "function", "system")
    asked = {name: visit.query.get(name, "").strip() for name in names}
    is_open = visit.query.get("open") == "1"
    page = await visit.ask.get(
        "/v1/jobs", **asked, open=is_open, limit=100, cursor=visit.query.get("after", "")
    )
    return {"jobs": page["items"], "next": page["next"], "asked": asked, "open": is_open}


async def gather_job(visit: Visit) -> Data:
    jid = visit.path["jid"]
    data = await job_data(visit.ask, {"jid": jid}, visit.now)
    return {**data, "buttons": buttons(data["offers"], visit)}


async def job_data(ask: Ask, names: Mapping[str, str], now: float) -> Data:  # noqa: ARG001
    """A job, its grouped answers, and the systems without an answer: the same for all readers."""
    jid = names["jid"]
    job = await ask.get("/v1/jobs/{jid}", jid=jid)
    answers = await ask.get("/v1/jobs/{jid}/answers", jid=jid)
    return {
        "job": job,
        "answers": answers,
        "line": spell_command(job["function"], job["args"], job["kwargs"]),
        "action": as_action(job["function"], job["args"]),
        "offers": job_offers(job),
        "has_topic_data": True,
    }


async def gather_answer(visit: Visit) -> Data:
    """What one system answered, as text."""
    jid, system = visit.path["jid"], visit.path["system"]
    one = await visit.ask.get("/v1/jobs/{jid}/returns/{system}", jid=jid, system=system)
    text = one["body"] if isinstance(one["body"], str) else _dump(one["body"])
    return {"jid": jid, "system": system, "one": one, "text": text[:LONGEST], "cut": len(text) > LONGEST}


def _dump(value: Any) -> str:
    from saltern.report.yaml import dump

    return dump(value).rstrip("\n")


# -- acts -------------------------------------------------------------------------------------------------


def _submit(form: Form) -> Data:
    function, args, kwargs = parse_command(form.text("run"))
    body: Data = {"function": function, "target": form.text("target"), "args": args, "kwargs": kwargs}
    if form.is_on("test"):
        body["test"] = True
    if form.text("life"):
        life = number_of(form.text("life"))
        body["wait" if life == 0 else "life"] = life
    if form.text("batch"):
        body["batch"] = form.text("batch")
    if form.text("time_limit"):
        body["time_limit"] = number_of(form.text("time_limit"))
    return body


async def _open_count(ask: Ask, form: Form) -> int:
    return int((await ask.get("/v1/jobs/{jid}", jid=form.path["jid"]))["open"])


COMMAND_PAGES = (
    Page(path="/command", name="Command", action="jobs.read", gather=gather_command, template="command.html"),
    Page(
        path="/jobs",
        name="Jobs",
        here="Command",
        action="jobs.read",
        gather=gather_jobs,
        template="jobs.html",
        topic="list/jobs",
    ),
    Page(
        path="/jobs/{jid}",
        name="Job",
        here="Command",
        action="jobs.read",
        gather=gather_job,
        template="job.html",
        topic="job/{jid}",
    ),
    Page(
        path="/jobs/{jid}/{system}",
        name="Answer",
        here="Command",
        action="jobs.read",
        gather=gather_answer,
        template="answer.html",
    ),
)
COMMAND_ACTS = (
    Act(
        path="/command/run",
        method="POST",
        route="/v1/jobs",
        body=_submit,
        count=count_target,
        danger=lambda form: parse_command(form.text("run"))[0] in DOWN,
        then="/jobs/{jid}",
        did="It is sent",
    ),
    Act(
        path="/jobs/{jid}/stop",
        method="POST",
        route="/v1/jobs/{jid}/cancel",
        body=lambda form: {"hard": form.is_on("hard")},
        count=_open_count,
        danger=lambda form: form.is_on("hard"),
        then="/jobs/{jid}",
        did="The rest is stopped",
    ),
)
COMMAND_TOPICS = (
    Topic(
        name="job/{jid}",
        action="jobs.read",
        gather=job_data,
        parts=("job-head", "job-answers", "offers"),
        tags=("salt/job/{jid}", "saltern/job/{jid}"),
        progress=True,
    ),
)
