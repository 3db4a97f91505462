"""Whether to accept, refuse or ignore a job with a good signature: a pure decision."""

from __future__ import annotations

from fnmatch import fnmatchcase

from msgspec import Struct

from saltern.fleet.protocol.messages import Job
from saltern.fleet.protocol.verbs import verb_of


class Standing(Struct, frozen=True, kw_only=True):
    """What an agent knows when a job arrives. ``born``: when its spool was made, in the fleet's time."""

    known: bool = False
    draining: str = ""
    born: float = 0.0
    denied: tuple[str, ...] = ()


class Accept(Struct, frozen=True, kw_only=True):
    """Store the job, and run it when ``due``."""

    due: float


class Refuse(Struct, frozen=True):
    """Return that the job is not run, and why."""

    why: str


class Ignore(Struct, frozen=True):
    """Do nothing: the job is known, or a lost spool may have known it."""

    why: str


def decide(
    job: Job, standing: Standing, *, issued: float, now: float, live: bool, chance: float = 0.0
) -> Accept | Refuse | Ignore:
    """Decide on a job. ``live``: it came unasked, not in a signed answer to our own request.

    A live job that is older than the spool may have been run before the spool was lost, so only a
    controller, which knows what was returned, may send it again. ``chance`` (0 to 1) spreads the start over
    the job's splay.
    """
    if standing.known:
        return Ignore("it is known already")
    if live and issued < standing.born:
        return Ignore("it is older than the spool of this agent, and was not sent as missed")
    if rule := denied_by(job, standing.denied):
        return Refuse(f"the deny list of this machine does not allow {job.function} ({rule})")
    if standing.draining and verb_of(job.function, test=job.test).command:
        return Refuse(standing.draining)
    return Accept(due=now + job.splay * chance)


def denied_by(job: Job, rules: tuple[str, ...]) -> str:
    """The first pattern of the deny list that the function matches; empty if none does.

    ``state.apply`` has other names, so a pattern that matches one of them matches all.
    """
    return next((rule for rule in rules if any(fnmatchcase(name, rule) for name in _names(job))), "")


_SAME = ("state.apply", "state.sls", "state.highstate")


def _names(job: Job) -> tuple[str, ...]:
    """What a job calls: its function, for a single state that state's function, and its returners. The
    actions of a chain are checked one by one, when each is run.
    """
    returners = tuple(f"{name}.returner" for name in job.returners or ())
    if job.function in _SAME:
        return (*_SAME, *returners)
    if job.function == "state.single":
        called = str(job.args[0] if job.args else job.kwargs.get("fun", ""))
        return (job.function, called, *returners)
    return (job.function, *returners)
