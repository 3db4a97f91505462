"""Which tests are slow, which drive other programs, and how long those of each folder take.

A path is a folder or a file. What is in neither table needs nothing but Python and is quick.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

# Whole programs, virtual machines, many kills, every argument of every state: seconds for each test.
SLOW = (
    "tests/barriers",
    "tests/chaos",
    "tests/secrets",
    "tests/e2e",
    "tests/fault",
    "tests/fleet/e2e",
    "tests/fleet/faults",
    "tests/formulas",
    "tests/property/test_hostile_arguments.py",
    "tests/salt_fleet",
    "tests/unit/system/test_power_door.py",
    "tests/vm",
)
# What is driven is the real thing, which has to be installed: Salt, other engines, a browser, a kernel.
REAL = (
    "tests/compat",
    "tests/formulas",
    "tests/modules",
    "tests/salt_fleet",
    "tests/views",
    "tests/vm",
)
# Whose directories lie in memory. Not those that reboot a machine, and so may not lose what they keep.
IN_MEMORY = (
    "tests/delayed",
    "tests/e2e",
    "tests/unit/journal",
)
SHOWN = 15
LEAST = 60.0  # seconds in all below which the table is left out


def markers_of(nodeid: str) -> Iterator[str]:
    """The names of the markers of a test."""
    for name, paths in (("slow", SLOW), ("real", REAL)):
        if any(nodeid.startswith((f"{path}/", f"{path}::")) for path in paths):
            yield name


def lies_in_memory(nodeid: str) -> bool:
    """Whether the directory of a test may be in memory."""
    return nodeid.startswith(tuple(f"{path}/" for path in IN_MEMORY))


def time_by_folder(reports: Iterable[object]) -> Iterator[str]:
    """Lines for the end of the output: the folders that take most of the time."""
    seconds: dict[str, float] = {}
    for one in reports:
        taken, nodeid = getattr(one, "duration", None), getattr(one, "nodeid", "")
        if isinstance(taken, float) and nodeid:
            folder = "/".join(nodeid.split("::")[0].split("/")[:3])
            seconds[folder] = seconds.get(folder, 0.0) + taken
    if (total := sum(seconds.values())) >= LEAST:
        yield f"where the time went, {total:.0f} s of all processes:"
        longest = sorted(seconds.items(), key=lambda row: -row[1])[:SHOWN]
        yield from (f"  {taken:6.0f} s  {folder}" for folder, taken in longest)
