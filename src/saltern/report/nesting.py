"""How far what was rendered late is set in, and the line above it."""

from __future__ import annotations

from saltern.language.delayed import Frame
from saltern.report.text import safe_line

STEP = 2
DEEPEST = 4  # levels that are set in; below, the path says where one is


def indent(depth: int) -> str:
    return " " * (STEP * min(depth, DEEPEST))


def heading(frame: Frame) -> str:
    """``== block use_vm (/srv/salt/vm.sls:9), 2 states, after vm``."""
    states = "1 state" if frame.states == 1 else f"{frame.states} states"
    caller = frame.path.rpartition(">")[0]
    if frame.depth <= DEEPEST:
        caller = caller.rpartition(">")[2]
    return safe_line(f"== {frame.kind} {frame.name} ({frame.where}), {states}, after {caller}")
