"""Runs a chain in test mode: predicts each action on this machine. Nothing is done or recorded."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence

from msgspec import to_builtins

from saltern.chains.compile import LegPlan
from saltern.chains.denials import denied_by
from saltern.chains.document import Action
from saltern.chains.main_line import main_line
from saltern.chains.render import actions_text
from saltern.config.settings import Settings
from saltern.engine.apply import apply
from saltern.engine.nested_engine import make_session
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.facts.read_grains import ReadGrains, read_grains
from saltern.language.diagnostics import CompileError
from saltern.language.events import Answer, Report
from saltern.language.result import Outcome
from saltern.report.forecast import KEEP, foreseen_rows

MakeSession = Callable[[dict[str, object]], Session]  # in test mode, with a pillar over the usual one
WOULD = {"wait": "wait", "health": "look", "reboot": "reboot", "agent": "update"}


REBOOTS = frozenset({"system.reboot", "saltern.reboot"})  # states that reboot the machine
HANDLES = "it is done only after a failure"
ALWAYS = "it is an action of the chain"


def rehearse(
    plan: LegPlan, settings: Settings, pillar: dict[str, object], denied: Sequence[str] = ()
) -> dict[str, object]:
    """The leg as data, marked as a test. Its ``facts`` are the names of the grains that were read."""
    grains = read_grains(settings)
    reader = _Rehearsal(plan, grains, settings, pillar, denied)
    with tempfile.TemporaryDirectory(prefix="saltern-chain-") as folder:
        rows = [reader.row(action, folder) for action in plan.every]
    return {
        "chain": plan.chain.name,
        "system": plan.system,
        "test": True,
        "status": "failed" if any(row["would"] == "fail" for row in rows) else "not run",
        "plan_sha256": plan.sha256(),
        "facts": grains.used,
        "steps": rows,
    }


def lines(data: dict[str, object]) -> Iterator[str]:
    """The lines that are printed for a leg in test mode."""
    yield f"test: chain {data['chain']} on {data['system']}: nothing was done"
    steps = data["steps"]
    assert isinstance(steps, list)
    for row in steps:
        note = main_line(str(row["comment"]), failed=row["would"] == "fail")
        would = f"would {row['would']}" if row["would"] else "no changes needed"
        yield f"  {row['action']:<11} {row['kind']:<10} {would:<24}{note}".rstrip()


class _Rehearsal:
    """One leg in test mode."""

    def __init__(
        self,
        plan: LegPlan,
        grains: ReadGrains,
        settings: Settings,
        pillar: dict[str, object],
        denied: Sequence[str],
    ) -> None:
        self.plan, self.pillar, self.denied = plan, pillar, denied
        self.session: MakeSession = lambda own: make_session(settings, own, grains=grains)

    def row(self, action: Action, folder: str) -> dict[str, object]:
        """The prediction for one action."""
        found: dict[str, object] = {
            "action": action.id,
            "kind": action.kind,
            "chunk": self.plan.segment_of(action.id).name,
            "status": "not run",
            "reboot": "",
            "states": [],
        }
        if action in self.plan.handling:
            return {**found, "would": "", "comment": HANDLES, "changes": {}}
        function, pattern = denied_by(action, self.denied)
        if function:
            why = f"the deny list of this machine forbids {function} ({pattern})"
            return {**found, "would": "fail", "comment": why, "changes": {}}
        try:
            report, session = self._run(action, folder)
        except CompileError as problem:
            return {**found, "would": "fail", "comment": str(problem), "changes": {}}
        return {**found, **_outcome(action, report, session)}

    def _run(self, action: Action, folder: str) -> tuple[Report, Session]:
        """Run the action in test mode; state files are applied directly, so that each of their states has its
        own prediction.
        """
        if action.kind in ("state", "highstate"):
            body = action.body
            sls = getattr(body, "sls", ())
            own = getattr(body, "pillar", None) or {}
            names = (sls,) if isinstance(sls, str) else tuple(sls)
            session = self.session({**self.pillar, **own})
            return apply(session, Request(sls=names, saltenv=getattr(body, "saltenv", None))), session
        path = os.path.join(folder, f"{action.id}.sls")
        with open(path, "w", encoding="utf-8") as file:
            file.write(actions_text((action,)))
        session = self.session(self.pillar)
        return apply(session, Request(template=path)), session


def _outcome(action: Action, report: Report, session: Session) -> dict[str, object]:
    failed = [one.result for one in report.answers if one.result.outcome is Outcome.FAILED]
    changing = [one for one in report.answers if one.result.outcome is Outcome.WOULD_CHANGE]
    would = WOULD.get(action.kind, "change") if changing else ""
    comments = [one.comment for one in failed] or [one.result.comment for one in changing or report.answers]
    rows = foreseen_rows(report, session.caller.nature)
    return {
        "would": "fail" if failed else would,
        "comment": "\n".join(comments),
        "changes": {one.tag: one.result.changes for one in changing},
        "reboot": _reboot(action, changing),
        "states": [to_builtins(row, enc_hook=str) for row in rows if row.kind != KEEP],
    }


def _reboot(action: Action, changing: Sequence[Answer]) -> str:
    """Why the machine would reboot at this action; empty if it would not."""
    states = [one for one in changing if one.chunk.function in REBOOTS]
    if not states:
        return ""
    if action.kind != "reboot":
        return f"{', '.join(one.chunk.id for one in states)}: {states[0].result.comment}"
    when = getattr(action.body, "when", "always")
    return ALWAYS if when == "always" else states[0].result.comment
