"""The page of the numbered tests of chains, read from the names of the tests.

A test for a fault of the list has its number in its name: ``test_41_…`` or ``test_item_41_…``. A test that is
skipped without ``CHAOS_SECONDS`` is only run by ``make chaos``; CI runs all others.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from msgspec import Struct

from tools.reference.markdown import code, page, table

ROOT = Path(__file__).parent.parent.parent
FOLDERS = ("tests/chains", "tests/barriers", "tests/fleet", "tests/unit/system")
OTHER_LISTS = frozenset({"tests/unit/system/test_keeper.py"})  # numbers of another list
NAME = re.compile(r"test_(?:item_)?(\d{1,2})_")
CHAOS, CI = "make chaos", "CI"
FAULTS = {
    4: "writes that fail: a full disk, errors of the disk",
    5: "a journal in memory",
    7: "the process ends while an action runs",
    8: "the service is restarted while an action runs",
    12: "a leg that breaks repeatedly",
    13: "clocks that jump",
    14: "a restart between the order to reboot and the reboot",
    15: "a reboot that does not happen",
    16: "a loss of power in place of a reboot",
    17: "more boots than were requested",
    18: "a boot that was not planned",
    19: "boots that look the same; machines that were copied or restored",
    20: "the same time of another day",
    21: "another kernel or snapshot than was expected",
    22: "other shutdowns; a cancel after the order to reboot",
    23: "a reboot first, last, alone, twice in a row",
    24: "a reboot behind actions that changed nothing in the snapshot",
    25: "an update to the build that runs already",
    26: "a package that is newer than the process",
    28: "a build that does not start",
    29: "a watchdog that is late, or acts twice",
    30: "an update by way of another package",
    31: "journals of other builds",
    32: "reports that are lost, repeated, out of order or late",
    33: "a system that is cut off, and a result after the deadline",
    34: "a controller that is killed; a database that fails over; an old backup",
    35: "two controllers",
    36: "the same request twice; the same leg with another plan; a leg that ended long ago",
    37: "many systems at once",
    38: "reports that are too long, or cannot be read or stored",
    39: "a slow controller; a program that prints without end",
    40: "work that was started while no controller was running",
    41: "SSH: a connection that is cut at any point; a controller that is killed",
    42: "SSH: hosts on which nothing can be done, each for its own reason",
    43: "SSH: a host that hangs",
    44: "orders in every status; opposite ones at once; orders to what is over",
    45: "a hard cancel in a package transaction",
    46: "retry: from each action, after a reboot, with other inputs, in quarantine",
    47: "actions at the end: after a failure, a cancel, a time limit, and an unknown result",
    48: "limits of failures at their edges",
    49: "empty waves and targets; systems that are removed, renamed, or in two runs",
    50: "gates: approved twice, by the author, too late, for another plan",
    51: "windows that close; clocks that differ or are changed; denied over allowed",
    52: "a plan whose facts, pillar, files, version or systems have moved",
    53: "a chain that is edited or removed while it runs",
    54: "a chain as a state file and back; a reboot in any state file",
    55: "every field that one side writes is read by the other",
    56: "the order of actions",
    57: "independence of systems",
    58: "leftovers",
    59: "agents of the version before and after",
    60: "a day of faults",
}
NEEDED = range(32, 61)  # network, controller, SSH, control


class Numbered(Struct, frozen=True, order=True):
    """One test: its number, its file, its name, and what runs it."""

    number: int
    file: str
    name: str
    run_by: str


@cache
def numbered_tests() -> tuple[Numbered, ...]:
    """All tests with a number, by number and file."""
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("test_*.py")]
    return tuple(sorted(one for file in files for one in _tests_of(file)))


def _tests_of(file: Path) -> Iterator[Numbered]:
    name = file.relative_to(ROOT).as_posix()
    if name in OTHER_LISTS:
        return
    text = file.read_text(encoding="utf-8")
    if not NAME.search(text):
        return  # most files: none of their tests has a number
    tree = ast.parse(text)
    long = _long_marks(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (found := NAME.match(node.name)):
            is_long = any(_is_long(mark, long) for mark in node.decorator_list)
            yield Numbered(int(found[1]), name, node.name, CHAOS if is_long else CI)


def _long_marks(tree: ast.Module) -> set[str]:
    """Names of the module that are marks which skip without ``CHAOS_SECONDS``."""
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and _is_long(node.value, set())
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_long(mark: ast.expr, known: set[str]) -> bool:
    if isinstance(mark, ast.Name):
        return mark.id in known
    said = ast.unparse(mark)
    return "skipif" in said and "CHAOS_SECONDS" in said


def chain_tests() -> str:
    rows = [
        (str(one.number), FAULTS[one.number], code(one.file), code(one.name), one.run_by)
        for one in numbered_tests()
    ]
    return page(
        "Numbered tests of chains",
        "The faults that chains must survive are numbered, and a test for one of them has the number in its"
        " name. [What else is tested](chain-tests.md).",
        table(("number", "fault", "file", "test", "run by"), rows),
    )
