"""What the benches of a fleet share: rows, and the CPU and memory of processes as the kernel counts them."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE = 180.0


def row(name: str, value: float, limit: float, *, least: bool = False, note: str = "") -> dict[str, Any]:
    """A figure beside its goal: at most ``limit``, or at least; ``note`` has what it was computed from."""
    value = round(value, 4)
    return {
        "name": name,
        "value": value,
        "limit": limit,
        "least": least,
        "holds": value >= limit if least else value <= limit,
        "note": note,
    }


def skipped(name: str, why: str) -> dict[str, Any]:
    """A figure that cannot be measured here."""
    return {"name": name, "value": None, "limit": None, "holds": None, "note": why}


def line(found: dict[str, Any]) -> str:
    if found["value"] is None:
        return f"--   {found['name']}: not measured: {found['note']}"
    word = "at least" if found.get("least") else "at most"
    mark, note = "ok  " if found["holds"] else "MISS", found.get("note")
    told = f"{mark} {found['name']}: {found['value']:,} ({word} {found['limit']:,})"
    return f"{told}; {note}" if note else told


def measure_parts(
    parts: Mapping[str, Callable[[Path, Any], list[dict[str, Any]]]], names: list[str], sizes: object
) -> list[dict[str, Any]]:
    """Measure each part in a directory of its own and print its rows; one that breaks does not hold."""
    rows: list[dict[str, Any]] = []
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None  # the disk is not what is measured
    for name in names:
        with tempfile.TemporaryDirectory(prefix="sb-", dir=memory) as place:
            try:
                found = parts[name](Path(place), sizes)
            except Exception as problem:
                found = [{**skipped(name, f"{type(problem).__name__}: {problem}"), "holds": False}]
        for one in found:
            print(line(one), flush=True)
        rows += found
    return rows


def run_bench(
    parser: argparse.ArgumentParser,
    parts: Mapping[str, Callable[[Path, Any], list[dict[str, Any]]]],
    sizes: Callable[[argparse.Namespace], object],
) -> int:
    """Measure the parts that the command line asks for, and write their rows; 1 if one does not hold."""
    parser.add_argument("--json", metavar="FILE", help="write the rows there")
    parser.add_argument("--only", metavar="PARTS", help=f"of {', '.join(parts)}", default=",".join(parts))
    args = parser.parse_args()
    names = args.only.split(",")
    if unknown := [name for name in names if name not in parts]:
        parser.error(f"no part is called {unknown[0]!r}; there are {', '.join(parts)}")
    rows = measure_parts(parts, names, sizes(args))
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(one["holds"] is not False for one in rows) else 1


def wait_for(what: str, is_so: Callable[[], object], patience: float = PATIENCE) -> None:
    end = time.monotonic() + patience
    while not is_so():
        if time.monotonic() > end:
            raise RuntimeError(f"{what} did not happen in {patience:.0f} s")
        time.sleep(0.05)


# -- processes ---------------------------------------------------------------------------------------


def _stat(pid: int) -> list[str]:
    """The fields of a process after its name; [1] is its parent."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def tree(*pids: int) -> list[int]:
    """The processes, and all that are below them."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError, IndexError):
                children.setdefault(int(_stat(int(name))[1]), []).append(int(name))
    found = list(pids)
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def cpu(*pids: int) -> float:
    """Seconds of CPU that the processes, all below them, and their ended children have used."""
    total = 0
    for pid in tree(*pids):
        with suppress(OSError, IndexError):
            total += sum(map(int, _stat(pid)[11:15]))
    return total / TICKS


def cpu_alone(pid: int) -> float:
    """Seconds of CPU of one process, to the nanosecond."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        total += int(Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()[0])
    return total / 1e9


def _smaps(pid: int, *names: str) -> float:
    found = 0
    for text in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        name, _, rest = text.partition(":")
        if name in names:
            found += int(rest.split()[0])
    return found / 1024


def own_memory(pid: int) -> float:
    """Megabytes that are this process's alone (USS)."""
    return _smaps(pid, "Private_Clean", "Private_Dirty")


def resident(pid: int) -> float:
    """Megabytes in memory (RSS)."""
    return _smaps(pid, "Rss")


def median(values: Iterable[float]) -> float:
    found = sorted(values)
    return found[len(found) // 2]
