"""``make bench``: measure saltern beside the yardsticks, and hold the ratios against the goals.

Only ratios to something measured in the same run count, the least CPU time of several rounds; never
seconds. ``python bench/run.py --quick`` is a short look, ``--short`` one of less than a minute that no goal
can fail; the full run takes a few minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)

# workload: at most this many times the yardstick's CPU, and at most this many MB.
GOALS: dict[str, tuple[float, float | None]] = {
    "W1.version": (3.0, None),
    "W1.nop": (0.7, 25),
    "W2.flat1k": (1.5, None),
    "W2.flat10k": (1.5, 65),
    "W3.chain2k": (1.5, None),
    "W3.dag5k": (1.5, None),
    "W3.sls2k": (1.5, None),
    "W4.flat1k": (0.7, None),
    "W4.flat10k": (0.7, None),
    "W4.chain2k": (0.7, None),
    "W4.dag5k": (0.7, None),
    "W4.jinja200": (0.4, None),
    "W5.files500.test": (2.0, None),
    "W5.files500.first": (1.4, None),
    "W5.files500.second": (2.0, None),
    "W5.links200.first": (1.5, None),
    "W5.links200.second": (1.5, None),
    "W5.cmds200": (1.3, None),
}
# workload: at most this many times the CPU of CFEngine, an agent in C, where Debian's package is installed.
BESIDE_C: dict[str, float] = {
    "W1.nop": 1.0,
    "W2.flat10k": 1.0,
    "W5.files500.second": 1.0,
    "W5.links200.first": 1.0,
    "W5.links200.second": 1.0,
    "W5.cmds200": 1.1,
}
COLD_JINJA = 1.1
JOURNAL = 1.15
EXPONENT = 1.1


def environment(work: str) -> dict[str, str]:
    scripts = os.path.dirname(sys.executable)
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return given | {
        "SALTERN": os.path.join(scripts, "saltern"),
        "BENCH_PYTHON": sys.executable,
        "BENCH_WORK": work,
        "SALTERN_CACHEDIR": os.path.join(work, "cache"),
        "SALTERN_STATE_DIR": os.path.join(work, "state"),
        "PYTHONHASHSEED": "0",
        "SHELL": "/bin/sh",  # commands run in the user's shell; the yardstick and CFEngine use this one
    }


def harness(work: str, *words: str) -> str:
    command = [sys.executable, os.path.join(HERE, "bench.py"), *words]
    done = subprocess.run(command, env=environment(work), stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def measured(path: str) -> dict[str, dict[str, dict[str, float]]]:
    """workload → tool → figures, from the harness's file."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    table: dict[str, dict[str, dict[str, float]]] = {}
    for run in data.values():
        for row in run.get("records", []) if isinstance(run, dict) else []:
            table.setdefault(row["workload"], {})[row["tool"]] = row
    return table


def cpu(argv: list[str], env: dict[str, str]) -> float:
    return cost(argv, env)[0]


def cost(argv: list[str], env: dict[str, str]) -> tuple[float, float]:
    """CPU seconds, and MB at the most."""
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(argv[0], argv, env, file_actions=nowhere)
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(argv)}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def cold_jinja(work: str, rounds: int) -> float:
    """The Jinja tree with no compiled template on disk, as a ratio to the yardstick."""
    import gen

    states, pillar = os.path.join(work, "cold/srv"), os.path.join(work, "cold/pillar")
    gen.sls_jinja(states, pillar, "tree", 200, 200)
    env = environment(work)
    limit: list[float] = []
    ours: list[float] = []
    for _ in range(rounds):
        yardstick = [sys.executable, os.path.join(HERE, "limits.py"), "compile", states, "tree", pillar]
        limit.append(cpu(yardstick, env))
        with tempfile.TemporaryDirectory() as cache:
            show = [env["SALTERN"], "show", "lowstate", "tree", "--file-root", states]
            words = [*show, "--pillar-root", pillar, "--out", "json"]
            ours.append(cpu(words, env | {"SALTERN_CACHEDIR": cache}))
    return min(ours) / min(limit)


def frames(work: str, rounds: int) -> int:
    """Delayed frames beside the same states compiled normally; how many goals were missed."""
    import delayed

    root = os.path.join(work, "delayed")
    delayed.write(root)
    env = environment(work)

    def measure(name: str) -> tuple[float, float]:
        words = ["apply", "tree", "--file-root", os.path.join(root, name), "--out", "json"]
        return cost([env["SALTERN"], *words], env)

    return sum(line(*row) for row in delayed.rows(measure, rounds))


def journal(work: str, rounds: int) -> int:
    """What it costs to write a run down: states that only look, and the same after one that acts."""
    import gen

    env = environment(work)
    missed = 0
    for name, first in (("looks", ""), ("acts", "acts:\n  cmd.run: [{name: 'true'}]\n")):
        root = os.path.join(work, "journal", name)
        gen.sls_graph(root, "tree", "flat", 10_000, 100)
        with open(os.path.join(root, "first.sls"), "w", encoding="utf-8") as file:
            file.write(f"include: [tree]\n{first}")
        words = [env["SALTERN"], "apply", "first", "--file-root", root, "--out", "json"]
        pairs = [(cpu(words, env), cpu([*words, "--no-journal"], env)) for _ in range(rounds)]
        ratio = min(kept for kept, _ in pairs) / min(without for _, without in pairs)
        missed += line(f"W9.journal10k {name}", ratio, JOURNAL)
    return missed


def check(work: str, rounds: int) -> int:
    """A check of 1,500 state files, beside Salt that compiles them."""
    import checking

    found = list(checking.rows(os.path.join(work, "check"), environment(work), rounds))
    if not found:
        print("W10.check1500          not measured: there is no Salt (make salt)")
    return sum(line(*row) for row in found)


def encrypted_pillar(work: str, rounds: int) -> int:
    """A pillar of 1,000 encrypted values, beside one call of gpg."""
    import encrypted

    found = list(encrypted.rows(work, environment(work), rounds))
    if not found:
        print("W11.gpg1000            not measured: there is no gpg")
    return sum(line(*row) for row in found)


def main() -> int:
    options = argparse.ArgumentParser(description="Measure saltern, and hold the ratios against the goals.")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--quick", action="store_true", help="fewer rounds, no growth")
    options.add_argument("--short", action="store_true", help="a minute, for information: fails for no goal")
    args = options.parse_args()
    rounds = 2 if args.short or args.quick else args.rounds
    subprocess.run([sys.executable, "-m", "compileall", "-q", os.path.join(ROOT, "src")], check=True)
    work = tempfile.mkdtemp(prefix="saltern-bench-")
    try:
        result = os.path.join(work, "result.json")
        tools = "python,limit,saltern" + (",cfengine" if shutil.which("cf-agent") else "")
        budget = ("--budget", "50") if args.short else ()
        harness(work, "run", "--tools", tools, "--rounds", str(rounds), *budget, "--out", result)
        missed = judge(measured(result))
        if not args.short:
            missed += measure_more(work, rounds)
        if not (args.short or args.quick):
            print(harness(work, "growth", "--tools", "limit,saltern"))
            print(harness(work, "growth", "--tools", "saltern", "--shapes", GLOBS, "--actions", "apply"))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{missed} goals missed" if missed else "every goal met")
    return 1 if missed and not args.short else 0


def measure_more(work: str, rounds: int) -> int:
    """What the harness has no workload for; how many goals were missed."""
    missed = line("W4.jinja200 cold", cold_jinja(work, rounds), COLD_JINJA)
    missed += frames(work, rounds)
    missed += journal(work, rounds)
    missed += encrypted_pillar(work, rounds)
    return missed + check(work, min(rounds, 3))  # Salt takes its time


# Half of the states name the other half by a pattern: the exponent must stay near that of flat states.
GLOBS = ",".join(
    f"glob-{kind}{form}" for kind in ("require", "prereq", "use", "listen") for form in ("", "_in")
)


def judge(table: dict[str, dict[str, dict[str, float]]]) -> int:
    missed = 0
    for workload, (most, memory) in GOALS.items():
        tools = table.get(workload, {})
        yardstick = tools.get("limit") or tools.get("python")
        ours = tools.get("saltern")
        if not yardstick or not ours:
            print(f"{workload:<22} not measured")
            missed += 1
            continue
        missed += line(workload, ours["cpu"] / yardstick["cpu"], most)
        if memory is not None:
            missed += line(f"{workload} MB", ours["rss_mb"], memory)
    return missed + sum(_beside(workload, table.get(workload, {})) for workload in BESIDE_C)


def _beside(workload: str, tools: dict[str, dict[str, float]]) -> int:
    """The ratio to CFEngine; nothing where it is not installed."""
    if "cfengine" not in tools or "saltern" not in tools:
        return 0
    ratio = tools["saltern"]["cpu"] / tools["cfengine"]["cpu"]
    return line(f"{workload} / C", ratio, BESIDE_C[workload])


def line(name: str, value: float, most: float) -> int:
    print(f"{name:<22} {value:8.2f}  at most {most:g}  {'ok' if value <= most else 'MISSED'}")
    return 0 if value <= most else 1


if __name__ == "__main__":
    raise SystemExit(main())
