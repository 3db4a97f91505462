"""Random cases for jobs of the schedule, and what such a file means.

Not among them: ``when`` and what else Salt reads with ``dateutil``, which its library here does not have.
"""

from __future__ import annotations

import json

from tests.compat.chance import Case, Chance, Maker

FILE = "minion.d/_schedule.conf"
NAMES = ("one", "two", "three")


def times(chance: Chance) -> Case:
    units = {unit: chance.choice((1, 5, 30)) for unit in ("seconds", "minutes", "hours", "days")}
    several = {unit: units[unit] for unit in chance.sample(sorted(units), chance.choice((1, 1, 2)))}
    return chance.choice(
        (
            several,
            several,
            {"cron": chance.choice(("*/5 * * * *", "0 4 * * mon", "@daily"))},
            {"once": "2035-01-02T09:30:00"},
            {"once": "02.01.2035", "once_fmt": "%d.%m.%Y"},
            {"run_on_start": True},
        )
    )


def job(chance: Chance) -> Case:
    span = {"start": "8:00am", "end": "5:00pm"}
    wanted: Case = {
        "function": chance.choice(("test.ping", "state.apply", "cmd.run", ["test.ping", "cmd.run"]))
    }
    return (
        wanted
        | times(chance)
        | chance.some(
            job_args=(["x"], ["x", 2, {"y": [1]}], []),
            job_kwargs=({"x": "y"}, {"test": True, "pillar": {"a": [1, "2"]}}),
            enabled=(True, False),
            maxrunning=(1, 3),
            jid_include=(True, False),
            return_job=(True, False, "nocache"),
            metadata=({"x": "y"},),
            splay=(10, {"start": 1, "end": 9}, {"end": 20, "start": 10}),
            range=(span, {**span, "invert": True}),
            skip_during_range=(span,),
            until=("2035-01-02T09:30:00",),
            after=("2025-01-02T09:30:00",),
            returner=("mysql", ["mysql", "redis"]),
            return_config=("other",),
            return_kwargs=({"host": "x"},),
        )
    )


def stored(name: str, chance: Chance, args: Case) -> Case:
    """A job in a file, as Salt writes it or as one may write it by hand."""
    renamed = {"job_args": "args", "job_kwargs": "kwargs"}
    kept = {renamed.get(key, key): value for key, value in args.items()}
    if chance.random() < 0.7:
        return {"name": name, "maxrunning": 1, "enabled": True, "jid_include": True} | kept
    return kept


def file(chance: Chance, **known: Case) -> dict[str, Case]:
    """Readable by its owner only, as is what is written here: its arguments may be secrets."""
    jobs: Case = {name: stored(name, chance, job(chance)) for name in NAMES if chance.random() < 0.4} | known
    jobs |= {"enabled": chance.choice((True, False))} if chance.random() < 0.2 else {}
    text = json.dumps({"schedule": jobs})
    if not known and chance.random() < 0.1:
        text = chance.choice(("", "schedule: {}\n"))
    return {"minion.d": {"folder": ""}, FILE: {"text": text, "mode": 0o600}}


def schedule_present(chance: Chance) -> Case:
    args, name = job(chance), chance.choice(NAMES)
    files = file(chance)
    if chance.random() < 0.4:
        changed = args if chance.random() < 0.5 else args | {"function": "test.true", "enabled": False}
        files = file(chance, **{name: stored(name, chance, changed)})
    return {"name": name, "args": args, "files": files}


def schedule_absent(chance: Chance) -> Case:
    return {"name": chance.choice(NAMES), "args": {}, "files": file(chance)}


def schedule_enabled(chance: Chance) -> Case:
    """Of a job that exists: of another one Salt says that it is fine, see docs/internals/quirks.md."""
    name = chance.choice(NAMES)
    args = job(chance)
    args |= {"enabled": chance.choice((True, False, False))} if chance.random() < 0.7 else {}
    return {"name": name, "args": {}, "files": file(chance, **{name: stored(name, chance, args)})}


SCHEDULES: dict[str, Maker] = {
    "schedule.present": schedule_present,
    "schedule.absent": schedule_absent,
    "schedule.enabled": schedule_enabled,
    "schedule.disabled": schedule_absent,
}


def jobs(text: str) -> str:
    """The jobs, in any order and form. A job that does not say otherwise is enabled."""
    import yaml

    found = (yaml.safe_load(text) or {}).get("schedule") or {}
    meant = {name: {"enabled": True} | one if isinstance(one, dict) else one for name, one in found.items()}
    return json.dumps(meant, sort_keys=True)
