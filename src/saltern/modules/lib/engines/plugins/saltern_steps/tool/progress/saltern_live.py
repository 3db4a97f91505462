"""A progress bar that reports each state when it is done, unless Idem will repeat it."""

from __future__ import annotations

import typing

import saltern_report
import saltern_states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def create(hub: Any, iterable: Iterable[Any], **kwargs: Any) -> Iterable[Any]:
    """Report the plan: Idem announces its states in parts, those without open requisites first."""
    for entry in getattr(iterable, "values", list)():
        if entry.get("tag"):
            saltern_report.report("plan", tag=entry["tag"])
    return iterable


def update(hub: Any, progress_bar: Iterable[Any], **kwargs: Any) -> None:
    """Report states that have ended; Idem does not say which."""
    options = hub.OPT.idem
    final = options.test or options.reconciler == "none"
    saltern_states.report_all(hub.idem.RUNS[hub.idem.RUN_NAME]["running"], final=final)


# pop compares these by identity with the objects of Idem's own signatures.
create.__annotations__["iterable"] = typing.Iterable
update.__annotations__["progress_bar"] = typing.Iterable
