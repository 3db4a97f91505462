"""An output plugin that reports all unreported states, and prints Idem's usual output."""

from __future__ import annotations

import re

import saltern_report
import saltern_states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COLOURS = re.compile(r"\x1b\[\d+m")


def display(hub: Any, data: Any) -> Any:
    if isinstance(data, dict):
        saltern_states.report_all(data, final=True)
    saltern_report.report("end")
    return COLOURS.sub("", str(hub.output.state.display(data)))
