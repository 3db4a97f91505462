"""Orders about runs and their legs: on how many systems, and whether they changed something."""

from __future__ import annotations

from collections import Counter

from saltern.fleet.api.problems import ApiError
from saltern.fleet.chains.control import NO_CHANGE
from saltern.fleet.console.ask import Ask
from saltern.fleet.console.row import Act, Data, Form
from saltern.fleet.console.views.offers import BAD, OVER
from saltern.fleet.console.views.runs import RUN
from saltern.language.diagnostics import Diagnostic


async def count_order(ask: Ask, form: Form) -> int | list[str] | None:
    """The systems that an order is about, counted now."""
    verb, run = form.text("verb"), form.path["run"]
    if verb in ("pause", "resume"):
        return None
    if "system" in form.path:
        return [form.path["system"]]
    if form.text("pattern"):
        causes = await ask.get(f"{RUN}/causes", run=run, most=500, names=True)
        return [
            system
            for one in causes["items"]
            if all(one[name] == form.text(name) for name in ("step", "status", "pattern"))
            for system in one["systems"]
        ]
    legs = Counter((await ask.get(f"{RUN}/shapes", run=run, most=1))["legs"])
    return (
        sum(legs[one] for one in BAD)
        if verb == "retry"
        else sum(n for one, n in legs.items() if one not in OVER)
    )


def order_body(form: Form) -> Data:
    body: Data = {"verb": form.text("verb"), "systems": list(form.systems), "reason": form.text("reason")}
    if form.text("action"):
        body["step"] = form.text("action")
    if body["verb"] == "cancel":
        body["hard"] = form.is_on("hard")
    if body["verb"] == "resume":
        body["despite_failures"] = form.is_on("despite_failures")
    return body


def is_dangerous(form: Form) -> bool:
    return form.text("verb") == "cancel"


def check_order(answer: Data) -> None:
    """Raise if an order has changed nothing, with the reasons that the controller gives."""
    changed: dict[str, str] = answer["changed"]
    if any(not what.startswith(NO_CHANGE) for what in changed.values()):
        return
    found = dict.fromkeys(what.removeprefix(f"{NO_CHANGE}: ") for what in changed.values())
    what = "; ".join(found) or "the run is not in a state for it any more"
    fix = "look at it again: it has changed since the page was loaded, or it has had this order already"
    raise ApiError(409, Diagnostic(code="console-no-change", what=what, fix=fix))


def _orders(page: str, did: str) -> Act:
    """The orders that a page gives; it is shown again afterwards."""
    return Act(
        path=f"{page}/orders",
        method="POST",
        route=f"{RUN}/orders",
        body=order_body,
        count=count_order,
        danger=is_dangerous,
        check=check_order,
        then=page,
        did=did,
    )


RUN_ACTS = (
    _orders("/runs/{run}", "The order is given"),
    _orders("/runs/{run}/{system}", "The order is given to this system"),
)
