"""Report the states of an Idem run, each once. Not a plugin, since functions of plugins get the hub first."""

from __future__ import annotations

import saltern_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

REPORTED: set[str] = set()
CALLED: set[str] = set()
KEPT = ("tag", "name", "__id__", "changes", "comment", "result", "start_time", "total_seconds")


def report_all(running: dict[str, Any], *, final: bool) -> None:
    """Report the states that are done. Idem may still repeat some, unless this is ``final``."""
    for tag, ret in list(running.items()):
        if "acct_details" in ret:  # set when the function is called, and removed at the end
            CALLED.add(tag)
        if tag not in REPORTED and ret.get("total_seconds") and (final or not _pending(ret)):
            REPORTED.add(tag)
            # The old and new states are not reported: they contain values that Idem hides in the changes.
            reported = {key: ret.get(key) for key in KEPT}
            saltern_report.report("state", called=tag in CALLED, ret=reported)


def _pending(ret: dict[str, Any]) -> bool:
    return ret.get("result") is not True or bool(ret.get("changes"))
