"""A chain in test mode: what each action would do on this machine. Nothing is done or recorded."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator

from saltern.chains.compile import LegPlan
from saltern.chains.document import Action
from saltern.chains.render import actions_text
from saltern.chains.show import main_line
from saltern.engine.apply import apply
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.language.diagnostics import CompileError
from saltern.language.events import Report
from saltern.language.result import Outcome

MakeSession = Callable[[dict[str, object]], Session]  # in test mode, with a pillar over the usual one
WOULD = {"wait": "wait", "health": "look", "reboot": "reboot", "agent": "update"}


def rehearse(plan: LegPlan, session: MakeSession, pillar: dict[str, object]) -> dict[str, object]:
    """The leg as data, marked as a test."""
    with tempfile.TemporaryDirectory(prefix="saltern-chain-") as folder:
        rows = [_row(plan, action, session, pillar, folder) for action in plan.every]
    return {
        "chain": plan.chain.name,
        "system": plan.system,
        "test": True,
        "status": "failed" if any(row["would"] == "fail" for row in rows) else "not run",
        "plan_sha256": plan.sha256(),
        "steps": rows,
    }


def lines(data: dict[str, object]) -> Iterator[str]:
    """What is printed of it."""
    yield f"test: chain {data['chain']} on {data['system']}: nothing was done"
    steps = data["steps"]
    assert isinstance(steps, list)
    for row in steps:
        note = main_line(str(row["comment"]), failed=row["would"] == "fail")
        would = f"would {row['would']}" if row["would"] else "as it should be"
        yield f"  {row['action']:<12}{row['kind']:<11}{would:<24}{note}".rstrip()


def _row(
    plan: LegPlan, action: Action, session: MakeSession, pillar: dict[str, object], folder: str
) -> dict[str, object]:
    found: dict[str, object] = {
        "action": action.id,
        "kind": action.kind,
        "chunk": plan.segment_of(action.id).name,
        "status": "not run",
    }
    try:
        report = _run(action, session, pillar, folder)
    except CompileError as problem:
        return {**found, "would": "fail", "comment": str(problem), "changes": {}}
    failed = [one.result for one in report.answers if one.result.outcome is Outcome.FAILED]
    changing = [one for one in report.answers if one.result.outcome is Outcome.WOULD_CHANGE]
    would = WOULD.get(action.kind, "change") if changing else ""
    comments = [one.comment for one in failed] or [one.result.comment for one in changing or report.answers]
    return {
        **found,
        "would": "fail" if failed else would,
        "comment": "\n".join(comments),
        "changes": {one.tag: one.result.changes for one in changing},
    }


def _run(action: Action, session: MakeSession, pillar: dict[str, object], folder: str) -> Report:
    """State files are applied as they are, so that each of their states says what it would do."""
    if action.kind in ("state", "highstate"):
        body = action.body
        sls = getattr(body, "sls", ())
        own = getattr(body, "pillar", None) or {}
        names = (sls,) if isinstance(sls, str) else tuple(sls)
        return apply(session({**pillar, **own}), Request(sls=names, saltenv=getattr(body, "saltenv", None)))
    path = os.path.join(folder, f"{action.id}.sls")
    with open(path, "w", encoding="utf-8") as file:
        file.write(actions_text((action,)))
    return apply(session(pillar), Request(template=path))
