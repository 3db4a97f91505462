"""Carries out a form of a page as a request to the API, after checking its confirmation.

The confirmation depends on the possible harm. For up to ten systems one button is enough, which names the
number. For more, and for dangerous actions of any size, the number must be typed, with a reason. The systems
are counted again when the form arrives: if the number has changed, nothing is done.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from saltern.fleet.api.problems import ApiError
from saltern.fleet.console.ask import NAME, Ask
from saltern.fleet.console.row import Act, Form
from saltern.fleet.console.views.account import ACCOUNT_ACTS
from saltern.fleet.console.views.run_orders import RUN_ACTS
from saltern.fleet.console.views.systems import SYSTEM_ACTS
from saltern.fleet.console.work_acts import WORK_ACTS
from saltern.language.diagnostics import Diagnostic

FEW = 10  # systems for which one button is enough
ACTS: tuple[Act, ...] = (*ACCOUNT_ACTS, *SYSTEM_ACTS, *RUN_ACTS, *WORK_ACTS)


async def perform(act: Act, ask: Ask, form: Form) -> Any:
    """Check the confirmation, and call the API; return its answer."""
    found = await act.count(ask, form) if act.count is not None else (1 if act.danger(form) else None)
    if isinstance(found, list):
        form = replace(form, systems=tuple(found))
        found = len(found)
    if found is not None:
        check_number(form, found, danger=act.danger(form))
    names = {name: form.path[name] for name in NAME.findall(act.route)}
    given = {"client_token": form.text("client_token"), "reason": form.text("reason")}
    answer = await ask.send(act.method, act.route, act.body(form), **given, **names)
    act.check(answer)
    return answer


def check_number(form: Form, number: int, *, danger: bool) -> None:
    """Raise unless the form confirms the action on this number of systems."""
    shown = _number(form.text("count"))
    if shown != number:
        was = f"{shown:,}" if shown is not None else "no number"
        raise _confirm_error(
            "console-count",
            f"it would now act on {number:,} systems, but the page showed {was}",
            "look at the list again, then confirm the new number",
        )
    if number > FEW or danger:
        if _number(form.text("typed")) != number:
            what = f"the number that was typed is not {number:,}"
            raise _confirm_error("console-typed", what, f"type {number:,}, the number of systems")
        if not form.text("reason"):
            raise _confirm_error(
                "console-reason", "no reason is given", "write one line: it is kept in the audit"
            )


def _number(text: str) -> int | None:
    plain = text.replace(",", "").replace(" ", "")
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 10 else None


def _confirm_error(code: str, what: str, fix: str) -> ApiError:
    return ApiError(409, Diagnostic(code=code, what=what, fix=fix))
