#!/usr/bin/env python3
# mypy: ignore-errors
# ruff: noqa
# fmt: off
"""Run the conformance cases through Salt and through the engine under test; compare.

    python3 compare.py --saltern "saltern" --salt-py PATH   live Salt as the reference
    python3 compare.py --saltern "saltern" --recorded       recorded answers instead
    python3 compare.py --record --salt-py PATH              write expected/ from Salt
    python3 compare.py --stability 4 --salt-py PATH         Salt against Salt, hash seeds

Environment: SALTERN is the engine command, SALT_PY the Python that has Salt.
"""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import fuzz
import harness

# ------------------------------------------------------------------------- adapter


def engine_argv(command, req):
    """THE ADAPTER: the command line for one request. Change this to fit the engine."""
    shows = {
        "show_highstate": "highstate",
        "show_lowstate": "lowstate",
        "show_top": "top",
        "show_sls": "sls",
        "show_low_sls": "low-sls",
    }
    argv = list(command)
    argv += ["show", shows[req["op"]]] if req["op"] in shows else ["apply"]
    if req["op"] != "highstate":
        argv += req["sls"]
    argv += ["--file-root", req["file_root"]]
    if req["pillar_root"]:
        argv += ["--pillar-root", req["pillar_root"]]
    argv += ["--pillar", json.dumps(req["pillar"])]
    if req["grains_file"]:
        argv += ["--grains", req["grains_file"]]
    argv += ["--config", req["config_file"]]
    if req["test"]:
        argv.append("--test")
    return argv + ["--out", "json"]


def engine_reply(stdout):
    """The engine's answer: the value under "local" of the JSON object it printed."""
    return {"raw": json.loads(stdout[stdout.index("{"):])["local"]}


# -------------------------------------------------------------------------- engine


class EngineFault(Exception):
    pass


def run_command(argv, workdir, timeout):
    """The exit code, the output and the messages of one command."""
    try:
        done = subprocess.run(
            argv,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            cwd=workdir,
            timeout=timeout,
            text=True,
            errors="replace",
            umask=0o022,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EngineFault(f"no answer in {timeout} s") from None
    except OSError as exc:
        raise EngineFault(str(exc)) from None
    return done.returncode, done.stdout, done.stderr


def run_engine(command, case, workdir, timeout):
    reqs = case.prepare(workdir)
    steps = []
    for req in reqs:
        code, out, err = run_command(engine_argv(command, req), workdir, timeout)
        try:
            reply = engine_reply(out)
        except (ValueError, KeyError, TypeError):
            tail = (err.strip() or out.strip())[-300:]
            raise EngineFault(f"exit {code}, no JSON answer: {tail}") from None
        steps.append(harness.normalise(req["op"], reply, req))
    return {"steps": steps, "scratch": harness.snapshot(reqs[0]["scratch"])}


# --------------------------------------------------------------------------- items


class Item:
    """A case on disk or a generated one, with where its answer is recorded."""

    def __init__(self, case, seed=None, digest=None):
        self.case, self.seed, self.digest = case, seed, digest
        self.name, self.category = case.name, case.category
        self.disputed = case.disputed
        self.facets = case.compare


def collect(args, tmp):
    items = []
    if not args.no_cases:
        items += [Item(c) for c in harness.load_cases(args.only, args.category)]
    for seed in [] if args.no_fuzz else fuzz.seeds(args.fuzz):
        name = f"fuzz-{seed}"
        if args.only and not any(fnmatch.fnmatch(name, p) for p in args.only):
            continue
        path = os.path.join(tmp, "fuzz", name)
        digest = fuzz.write_case(seed, path)
        case = harness.Case(path)
        if args.category and not any(fnmatch.fnmatch(case.category, p) for p in args.category):
            continue
        items.append(Item(case, seed, digest))
    return items


def recorded_answer(item, fuzz_expected):
    if item.seed is None:
        try:
            rec = harness.load_expected(item.name)
        except FileNotFoundError:
            return None, "no recorded answer"
    else:
        rec = fuzz_expected.get(item.seed)
        if rec is None:
            return None, "no recorded answer for this seed"
        if rec["digest"] != item.digest:
            return None, "the generator changed since the answer was recorded"
    if rec.get("disputed") and not item.disputed:
        item.disputed = rec["disputed"]
    return rec["result"], None


# --------------------------------------------------------------------------- modes


def record(args, items, tmp):
    """Ask Salt under several hash seeds; write the answers and note unstable ones."""
    fuzz_records = harness.load_fuzz_expected()
    answers = answers_by_seed(args, items, tmp, args.record_seeds)
    wrong = 0
    for item in items:
        results = answers[item.name]
        first = results[0]
        rec = {"salt": args.salt_version, "result": first}
        if "scratch" not in item.facets:
            rec["result"] = {"steps": first["steps"]}
        unstable = [d for r in results[1:] for d in harness.compare_result(first, r, item.facets)]
        if unstable:
            rec["disputed"] = "Salt's answer varies with the hash seed: " + unstable[0]
            print(f"UNSTABLE {item.name}: {unstable[0]}")
        elif item.seed is not None and salt_fault(item.case, first):
            rec["disputed"] = salt_fault(item.case, first)
        kinds = ["error" if s["kind"] == "error" else "ok" for s in first["steps"]]
        if item.case.expect and item.case.expect not in kinds[-1:]:
            wrong += 1
            print(f"UNEXPECTED {item.name}: case says {item.case.expect}, Salt gave {kinds}: "
                  f"{first['steps'][-1].get('errors')}")
        for step in first["steps"]:
            if step.get("crash"):
                print(f"CRASH {item.name}: {step['errors'][0][:300]}")
        if item.seed is None:
            harness.save_expected(item.name, rec)
        else:
            rec.update(seed=item.seed, digest=item.digest)
            fuzz_records[item.seed] = rec
    if any(i.seed is not None for i in items):
        harness.save_fuzz_expected(fuzz_records)
    if not args.only and not args.category and not args.no_cases:
        known = {i.name for i in items if i.seed is None}
        for fn in os.listdir(harness.EXPECTED):
            if fn.endswith(".json") and fn[:-5] not in known:
                os.remove(os.path.join(harness.EXPECTED, fn))
    print(f"recorded {len(items)} answers from Salt {args.salt_version}")
    return 1 if wrong else 0


def salt_fault(case, result):
    """Known Salt faults that can be told from the answer itself."""
    for step, answer in zip(case.steps, result["steps"]):
        if answer["kind"] != "run":
            continue
        for state in answer["states"]:
            if state["result"] is None and not step["test"]:
                return ("Salt reports the dry-run result (None) of a prereq target whose prereq "
                        f"state failed: {state['tag']}")
            if state["num"] is None:
                return f"Salt left out __run_num__: {state['tag']}"
    return None


def answers_by_seed(args, items, tmp, hash_seeds):
    """Each item's result under hash seeds 0..n-1; two Salt processes side by side."""
    answers = {i.name: [None] * hash_seeds for i in items}

    def one(hash_seed):
        client = harness.SaltClient(
            args.salt_py,
            os.path.join(tmp, f"salt-root-{hash_seed}"),
            env={"PYTHONHASHSEED": str(hash_seed)},
        )
        for item in items:
            work = os.path.join(tmp, f"h{hash_seed}", item.name)
            answers[item.name][hash_seed] = client.run_case(item.case, work)
            shutil.rmtree(work, ignore_errors=True)
        args.salt_version = client.version
        client.close()

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(one, range(hash_seeds)))
    return answers


def stability(args, items, tmp):
    answers = answers_by_seed(args, items, tmp, args.stability)
    unstable = 0
    for item in items:
        results = answers[item.name]
        for other in results[1:]:
            lines = harness.compare_result(results[0], other, item.facets)
            if lines:
                unstable += 1
                mark = " (disputed)" if item.disputed else ""
                print(f"UNSTABLE {item.name}{mark}: {lines[0]}")
                break
    print(f"{unstable} of {len(items)} answers vary over {args.stability} hash seeds")
    return 0


def compare(args, items, tmp):
    # The engine runs in the case's own folder, so relative paths are resolved here.
    command = [os.path.abspath(w) if (os.sep in w or i) and os.path.isfile(w) else w
               for i, w in enumerate(shlex.split(args.saltern))]
    fuzz_expected = harness.load_fuzz_expected()
    salt = None
    if not args.recorded:
        salt = harness.SaltClient(args.salt_py, os.path.join(tmp, "salt-root"))
    started = time.time()
    rows = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        futures = {}
        for item in items:
            work = os.path.join(tmp, "engine", item.name)
            futures[item.name] = pool.submit(run_engine, command, item.case, work, args.timeout)
        for item in items:
            want, why = recorded_answer(item, fuzz_expected)
            if salt is not None:
                work = os.path.join(tmp, "salt", item.name)
                want, why = salt.run_case(item.case, work), None
                if item.seed is not None and not item.disputed:
                    item.disputed = salt_fault(item.case, want)
                shutil.rmtree(work, ignore_errors=True)
            row = {"name": item.name, "category": item.category, "disputed": item.disputed}
            try:
                got = futures[item.name].result()
            except EngineFault as exc:
                got = None
                row["diff"] = [f"engine: {exc}"]
            if want is None:
                row["skipped"] = why
            elif got is not None:
                facets = item.facets
                if want.get("scratch") is None:
                    facets = tuple(f for f in facets if f != "scratch")
                row["diff"] = harness.compare_result(want, got, facets)
            row["ok"] = row.get("diff") == []
            rows.append(row)
            if args.verbose:
                print("ok  " if row["ok"] else "FAIL", item.name, flush=True)
            shutil.rmtree(os.path.join(tmp, "engine", item.name), ignore_errors=True)
    if salt is not None:
        salt.close()
    return report(args, rows, time.time() - started, salt.version if salt else "recorded")


def report(args, rows, seconds, reference):
    skipped = [r for r in rows if r.get("skipped")]
    disputed = [r for r in rows if r["disputed"] and not r.get("skipped")]
    counted = [r for r in rows if not r["disputed"] and not r.get("skipped")]
    failed = [r for r in counted if not r["ok"]]
    cats = {}
    for row in rows:
        cell = cats.setdefault(row["category"], {"passed": 0, "counted": 0, "disputed": 0})
        if row.get("skipped"):
            continue
        if row["disputed"]:
            cell["disputed"] += 1
        else:
            cell["counted"] += 1
            cell["passed"] += row["ok"]
    for row in failed:
        lines = row["diff"]
        print(f"\n{row['name']} [{row['category']}]")
        for line in lines[: args.lines]:
            print("   ", line)
        if len(lines) > args.lines:
            print(f"    ... {len(lines) - args.lines} more")
    print()
    width = max([len(c) for c in cats] + [8])
    for cat in sorted(cats):
        cell = cats[cat]
        extra = f"   ({cell['disputed']} disputed, not counted)" if cell["disputed"] else ""
        print(f"{cat:<{width}}  {cell['passed']:>4} / {cell['counted']:<4}{extra}")
    passed = len(counted) - len(failed)
    percent = 100.0 * passed / len(counted) if counted else 0.0
    print(f"{'total':<{width}}  {passed:>4} / {len(counted):<4}   {percent:.2f} %"
          f"   reference: {reference}   {seconds:.0f} s")
    differing = [r["name"] for r in disputed if not r["ok"]]
    if differing:
        print(f"disputed and different (not counted): {', '.join(differing)}")
    for row in skipped:
        print(f"skipped {row['name']}: {row['skipped']}")
    if args.json:
        data = {
            "reference": reference,
            "passed": passed,
            "counted": len(counted),
            "percent": percent,
            "seconds": round(seconds, 1),
            "categories": cats,
            "rows": rows,
        }
        with open(args.json, "w", encoding="utf-8") as fh:
            json.dump(data, fh, indent=1)
    return 0 if counted and percent >= args.min else 1


# ---------------------------------------------------------------------------- main


def parse(argv):
    par = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    par.add_argument("--saltern", default=os.environ.get("SALTERN", "saltern"),
                     help="engine command (default $SALTERN, then 'saltern')")
    par.add_argument("--salt-py", help="Python of the Salt environment (default $SALT_PY)")
    par.add_argument("--recorded", action="store_true", help="use expected/, not live Salt")
    par.add_argument("--record", action="store_true", help="write expected/ from live Salt")
    par.add_argument("--record-seeds", type=int, default=4, metavar="N",
                     help="hash seeds asked while recording (default 4)")
    par.add_argument("--stability", type=int, metavar="N", help="Salt against Salt, N hash seeds")
    par.add_argument("--only", action="append", metavar="GLOB", help="names, as require-* or fuzz-7")
    par.add_argument("--category", action="append", metavar="GLOB", help="categories, as order or fuzz-*")
    par.add_argument("--fuzz", default="0-99", metavar="A-B", help="seeds (default 0-99)")
    par.add_argument("--no-fuzz", action="store_true")
    par.add_argument("--no-cases", action="store_true")
    par.add_argument("--jobs", type=int, default=2, help="engine processes at once (default 2)")
    par.add_argument("--timeout", type=int, default=60, help="seconds for one engine call")
    par.add_argument("--min", type=float, default=100.0, help="percent needed for exit 0")
    par.add_argument("--ignore-key", action="append", default=[], metavar="KEY",
                     help="leave this key out when comparing high and low data")
    par.add_argument("--lines", type=int, default=6, help="difference lines for each case")
    par.add_argument("--json", metavar="FILE", help="write the whole report as JSON")
    par.add_argument("--tmp", metavar="DIR", help="where to work (default: a temporary folder)")
    par.add_argument("--list", action="store_true", help="list the cases and stop")
    par.add_argument("-v", "--verbose", action="store_true")
    args = par.parse_args(argv)
    args.salt_version = None
    harness.IGNORED_KEYS.update(args.ignore_key)
    return par, args


def main(argv=None):
    par, args = parse(argv)
    tmp = os.path.abspath(args.tmp) if args.tmp else tempfile.mkdtemp(prefix="conf-")
    try:
        items = collect(args, tmp)
        if args.list:
            for item in items:
                mark = "  DISPUTED" if item.disputed else ""
                print(f"{item.category:<24} {item.name}{mark}")
            return 0
        if not items:
            par.error("nothing selected")
        if args.record or args.stability or not args.recorded:
            args.salt_py = harness.find_salt_py(args.salt_py)
            if not args.salt_py:
                par.error("no Salt: give --salt-py or SALT_PY, or use --recorded")
        if args.record:
            return record(args, items, tmp)
        if args.stability:
            return stability(args, items, tmp)
        return compare(args, items, tmp)
    finally:
        if not args.tmp:
            shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
