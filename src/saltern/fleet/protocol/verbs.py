"""``VERBS``: the functions of jobs, and how each affects the queue, the waiting time and a broken run.

A function that has no row is an execution function, as ``saltern call`` runs it. Such a job lives for
minutes, even if it changes something: a reboot requested in the morning must not happen at night.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.protocol.questions import is_question

HOUR = 3600.0
STATE_LIFE = 24 * HOUR
QUESTION_LIFE = 300.0
DEPLOY = "agent.deploy"  # turns an SSH system into an agent system; never sent to an agent


class Verb(Struct, frozen=True, kw_only=True):
    """One row. ``changing`` jobs run one after the other; ``durable`` ones have a run and a journal, so that
    they are resumed. ``on_interrupt``: what to do if the worker died: run it again, or report it.
    """

    changing: bool
    life: float
    durable: bool = False
    on_interrupt: Literal["rerun", "report"] = "rerun"
    command: str = "call"
    about: str


def _states(command: str, about: str) -> Verb:
    return Verb(changing=True, life=STATE_LIFE, durable=True, command=command, about=about)


def _question(command: str, about: str) -> Verb:
    return Verb(changing=False, life=QUESTION_LIFE, command=command, about=about)


VERBS: dict[str, Verb] = {
    "state.apply": _states("apply", "apply the SLS that `args` name, or the highstate"),
    "state.sls": _states("apply", "the same as `state.apply` with names"),
    "state.highstate": _states("apply", "the same as `state.apply` without names"),
    "state.top": _states("apply", "the highstate by the top file that `args` names"),
    "state.single": Verb(
        changing=True,
        life=STATE_LIFE,
        command="single",
        about="apply one state: its function, its name and its arguments",
    ),
    "saltern.resume": _states("resume", "resume a run that broke"),
    "chain.run": _states("chain", "run what the action chain in `text` means for the system"),
    "chain.leg": _states(
        "chain", "one order about the system's leg of a run: begin it, pause it, cancel it …"
    ),
    **{
        f"publish.{name}": Verb(
            changing=False,  # it waits for other jobs, which may run on this very system
            life=QUESTION_LIFE,
            on_interrupt="report",
            about=f"have {what}, as far as `{option}` of the controller allows it",
        )
        for name, what, option in (
            ("publish", "a function run on other systems", "peer"),
            ("full_data", "a function run on other systems, with all of their data", "peer"),
            ("runner", "a runner run on the controller", "peer_run"),
        )
    },
    "saltern.plan": _question("plan", "what would change"),
    "saltern.show": _question("show", "what would be applied: low data, top, pillar, grains and more"),
    "saltern.runs": _question("runs", "the runs of the system"),
    "saltern.report": _question("report", "one run, as data"),
    "test.ping": _question("", "whether the agent is there; it answers itself"),
}
ASK = _question("call", "an execution function that only looks")
CALL = Verb(
    changing=True,
    life=QUESTION_LIFE,
    on_interrupt="report",
    command="call",
    about="any other execution function; whether it was called is unknown if its worker dies",
)


def verb_of(function: str, *, test: bool = False) -> Verb:
    """The row of a function. In test mode nothing changes, so there is no queue and no journal."""
    row = VERBS.get(function) or (ASK if is_question(function) else CALL)
    return replace(row, changing=False, durable=False) if test and row.durable else row
