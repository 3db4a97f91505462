"""A plan from the builder: who is meant, then the dry run on them. The draft is kept as a version."""

from __future__ import annotations

from saltern.fleet.api.problems import ApiError
from saltern.fleet.console.ask import Ask
from saltern.fleet.console.row import Act, Data, Form, Page, Visit
from saltern.fleet.console.views.chains import count_target
from saltern.language.diagnostics import Diagnostic, SalternError


async def gather_meant(visit: Visit) -> Data:
    """How many systems a target means: a part of the dialog, with the button that names the number."""
    target = visit.query.get("target", "").strip()
    try:
        found = await visit.ask.send("POST", "/v1/resolve", {"target": target})
    except SalternError as problem:
        return {"problem": problem.diagnostics[0]}
    systems = found["systems"]
    if not systems:
        empty = Diagnostic(code="fleet-target-empty", what=f"{target!r} means no system")
        return {"problem": empty}
    return {"problem": None, "target": target, "number": len(systems), "some": systems}


async def _count_meant(ask: Ask, form: Form) -> int:
    """The systems of the target that was counted; another one has to be counted first."""
    if form.text("meant") != form.text("target"):
        what, fix = "the target is not the one that was counted", "press “Who is meant?” again"
        raise ApiError(409, Diagnostic(code="console-count", what=what, fix=fix))
    return await count_target(ask, form)


DRAFT_PLAN_PAGES = (
    Page(
        path="/meant",
        name="Meant",
        here="Chains",
        action="systems.read",
        gather=gather_meant,
        template="meant.html",
    ),
)
DRAFT_PLAN_ACTS = (
    Act(
        path="/chains/{chain}/plan-draft",
        method="POST",
        route="/v1/chain-plans",
        body=lambda form: {"text": form.raw("text"), "target": form.text("target")},
        count=_count_meant,
        then="/plans/{plan}",
        did="The systems are asked what they would do",
    ),
)
