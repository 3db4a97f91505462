"""Which tests are slow, which drive other programs, and how long those of each folder take.

A path is a folder or a file. What is in neither table needs nothing but Python and is quick.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

# Whole programs, virtual machines, many kills, every argument of every state: seconds for each test.
SLOW = (
    "tests/barriers",
    "tests/chaos",
    "tests/secrets",
    "tests/e2e",
    "tests/fault",
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
# Whose directories lie on the disk. Those of all others are in memory, where making and removing a file and
# syncing it cost a tenth and less. A machine that reboots may not lose what it keeps, and a chain is refused
# there; Puppet refuses to write its state there; examples print paths whose length counts.
ON_DISK = (
    "tests/barriers",
    "tests/docs",
    "tests/fleet/agent/test_process.py",
    "tests/fleet/e2e/test_rfc.py",
    "tests/fleet/ssh/test_reboot.py",
    "tests/modules/puppet",
    "tests/vm",
)
# What one process runs because it shares a server or a fleet, or because it changes this machine one test at
# a time (``alone`` in ``tests/modules/bench.py``): others would wait for it. All else goes by files.
UNITS: dict[str, tuple[str, ...]] = {
    "salt": ("tests/salt_fleet",),
    "docker": ("tests/modules/docker",),
    "machine": (
        "tests/modules/test_absent.py",
        "tests/modules/cron",
        "tests/modules/group",
        "tests/modules/lvm",
        "tests/modules/postgres/test_clusters.py",
        "tests/modules/service",
        "tests/modules/sysctl",
        "tests/modules/user",
        "tests/compat/test_salt_library.py",
    ),
}
# What takes longest begins first, so that no process is left alone with it at the end. Files of a few tests
# that take minutes are among them; the number of tests says nothing about those.
LONGEST = (
    "tests/salt_fleet",
    "tests/modules/examples",
    "tests/modules/docker",
    "tests/modules/pkg",
    "tests/modules/test_absent.py",
    "tests/fleet/ssh",
    "tests/fleet/e2e",
    "tests/fleet/console",
    "tests/fleet/orchestration",
    "tests/fleet/controller",
    "tests/fleet/sites",
    "tests/fleet/faults",
    "tests/fault",
    "tests/chaos",
    "tests/e2e/test_bad_modules.py",
    "tests/property/test_hostile_arguments.py",
    "tests/modules/firewalld",
    "tests/modules/postgres",
    "tests/modules/puppet",
)
SHOWN = 15
LEAST = 60.0  # seconds in all below which the table is left out


def markers_of(nodeid: str) -> Iterator[str]:
    """The names of the markers of a test."""
    for name, paths in (("slow", SLOW), ("real", REAL)):
        if _is_in(nodeid, paths):
            yield name


def lies_on_disk(nodeid: str) -> bool:
    """Whether the directory of a test has to be on a disk."""
    return _is_in(nodeid, ON_DISK)


def unit_of(nodeid: str) -> str:
    """The name of the unit that a test belongs to."""
    file = nodeid.partition("::")[0]
    return next((name for name, paths in UNITS.items() if _is_in(nodeid, paths)), file)


def longest_first(units: Mapping[str, int]) -> list[str]:
    """The names of units in the order in which they begin; ``units`` has the number of tests of each."""

    def rank(name: str) -> tuple[int, bool, int]:
        path = UNITS.get(name, (f"{name}::",))[0]
        place = next((number for number, one in enumerate(LONGEST) if path.startswith(one)), len(LONGEST))
        return place, not _is_in(path, (*SLOW, *REAL)), -units[name]

    return sorted(units, key=rank)


def _is_in(nodeid: str, paths: Iterable[str]) -> bool:
    return f"{nodeid}/".startswith(tuple(f"{path}{end}" for path in paths for end in ("/", "::")))


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
