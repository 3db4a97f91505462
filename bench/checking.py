"""W10: ``saltern check`` of a site of 1,500 state files, beside the time Salt takes to compile them.

Salt compiles what the top file gives to one machine, which is all of them (``state.show_lowstate``); a
check compiles the same run, and asks the rules. ``cold`` is with no compiled template on disk, as the
first time and in CI. Salt is ``SALT_CALL``, else the one of ``make salt``.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping

import formulas

FILES = 1500
# what is measured: at most this part of Salt's, for CPU time and on the wall
MOST = {"warm": (0.15, 0.15), "cold": (0.25, 0.25)}
SALT = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build/salt/programs/salt-call"
)

Cost = tuple[float, float]  # CPU and wall, seconds


def rows(work: str, env: Mapping[str, str], rounds: int) -> Iterator[tuple[str, float, float]]:
    """Each a name, a ratio, and what it may be; nothing where there is no Salt."""
    salt = env.get("SALT_CALL") or SALT
    if not os.path.exists(salt):
        return
    states, pillar = os.path.join(work, "states"), os.path.join(work, "pillar")
    formulas.write(states, pillar, FILES)
    ours = [env["SALTERN"], "check", "--file-root", states, "--pillar-root", pillar]
    theirs = [salt, "--local", "--config-dir", _minion(work, states, pillar), "--out=json"]
    taken: dict[str, list[Cost]] = {"salt": [], "cold": [], "warm": []}
    cache = os.path.join(work, "cache")
    given = {**env, "SALTERN_CACHEDIR": cache}
    for _ in range(rounds):
        taken["salt"].append(_cost([*theirs, "state.show_lowstate"], env))
        shutil.rmtree(cache, ignore_errors=True)
        taken["cold"].append(_cost(ours, given))
        taken["warm"].append(_cost(ours, given))
    for name, limits in MOST.items():
        for at, kind in enumerate(("CPU", "wall")):
            least = {tool: min(cost[at] for cost in some) for tool, some in taken.items()}
            yield f"W10.check1500 {name} {kind}", least[name] / least["salt"], limits[at]


def _minion(work: str, states: str, pillar: str) -> str:
    folder = os.path.join(work, "minion")
    os.makedirs(folder)
    roots = {"file_roots": {"base": [states]}, "pillar_roots": {"base": [pillar]}}
    settings = {"id": "bench", "file_client": "local", "root_dir": os.path.join(work, "root"), **roots}
    with open(os.path.join(folder, "minion"), "w", encoding="utf-8") as file:
        json.dump({**settings, "log_level": "error", "log_level_logfile": "error"}, file)
    return folder


def _cost(argv: list[str], env: Mapping[str, str]) -> Cost:
    """Of the process and those it has started and waited for."""
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    begun = time.perf_counter()
    child = os.posix_spawn(argv[0], argv, dict(env), file_actions=nowhere)
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - begun
    if status:
        raise SystemExit(f"failed: {' '.join(argv)}")
    return used.ru_utime + used.ru_stime, wall
