"""States run in Salt and here with the same random arguments: of files, repositories, users, tables of cron …

The results, whether something changed, and the files are the same in test mode, in the run and in a second
run. What differs on purpose is in ``docs/internals/quirks.md``, and no case has it. A failure prints the
seed and the case; ``SALTERN_BESIDE_SEED``, ``SALTERN_BESIDE_CASES`` and ``SALTERN_BESIDE_ONLY`` choose
others, the last one by the beginning of a function's name.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.compat.account_cases import ACCOUNTS
from tests.compat.augeas_cases import AUGEAS
from tests.compat.chance import Case, Chance, Maker
from tests.compat.file_cases import FILES
from tests.compat.machine_cases import MACHINE
from tests.compat.network_cases import NETWORKS
from tests.compat.program_cases import PROGRAMS, SLOW
from tests.compat.run_cases import ENVIRONMENT, QUEUED
from tests.compat.schedule_cases import SCHEDULES
from tests.compat.setting_cases import LOOSE, SETTINGS, SILENT, meanings
from tests.compat.test_salt_library import SITE, needs_salt
from tests.compat.text_cases import TEXTS
from tests.modules.bench import needs_root

RUNS = ("in test mode", "in the run", "in the second run")
OLD_SITE = SITE.with_name("salt-3006")
BINDINGS = Path("/usr/lib/python3/dist-packages/augeas.py")  # not the rest of that directory
PROGRAM = Path(__file__).parent / "beside_salt.py"
SEED = os.environ.get("SALTERN_BESIDE_SEED", "1")
CASES = int(os.environ.get("SALTERN_BESIDE_CASES", "25"))
ONLY = os.environ.get("SALTERN_BESIDE_ONLY", "")


def run(site: str, work: Path, cases: list[Case], *, apart: bool = False) -> list[dict[str, Any]]:
    program = [sys.executable, str(PROGRAM), site, str(work)]
    apart_from_all = [
        "unshare",
        "--mount",
        "--net",
        "--uts",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]
    done = subprocess.run(
        [*apart_from_all, *program, "apart"] if apart else program,
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def seen(case: Case, answer: dict[str, Any]) -> list[dict[str, Any]]:
    """What is compared: the changes only where they have the same form, and those of the run."""
    runs = []
    for number, run in enumerate(answer["runs"][: case.get("runs", 3)]):
        files = {TIMED.sub(".TIME", path): text for path, text in run["files"].items()}
        found = run | {"files": meanings(case, files)}
        if number != 1 or case["function"].startswith("file.") or case["function"] in LOOSE:
            del found["changes"]
        runs.append(found)
    return runs


def heard(case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """Where Salt's state reports no change, what it did to the files says whether there was one."""
    if case["function"] not in SILENT:
        return answer
    now = [meanings(case, run["files"]) for run in answer["runs"]]
    changed = [now[number] != ([{}, *now])[number] for number in range(len(now))]
    runs = [run | {"changed": one} for run, one in zip(answer["runs"], changed, strict=True)]
    return answer | {"runs": runs}


TIMED = re.compile(r"\.\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d$")  # the names of copies that file.line keeps


def agree(theirs: list[dict[str, Any]], ours: list[dict[str, Any]]) -> bool:
    """They do the same; in test mode ours may instead be right about what both then do."""
    if theirs[1:] != ours[1:] or theirs[0]["files"] != ours[0]["files"]:
        return False
    done = ours[1]
    foreseen = False if done["result"] is False else None if done["changed"] else True
    failed = theirs[0]["result"] is done["result"] is False  # what is missing an earlier state may bring
    return theirs[0] == ours[0] or ours[0]["result"] is foreseen or (failed and ours[0]["result"] is None)


def compare(work: Path, cases: list[Case], *, apart: bool = False, site: str = str(SITE)) -> None:
    theirs, ours = (run(one, work, cases, apart=apart) for one in (site, "saltern"))
    theirs = [heard(case, salt) for case, salt in zip(cases, theirs, strict=True)]
    differ = [
        f"{json.dumps(case)}\n{contrast(case, salt, here)}"
        for case, salt, here in zip(cases, theirs, ours, strict=True)
        if not salt["crashed"] and not agree(seen(case, salt), seen(case, here))
    ]
    assert not differ, f"seed {SEED}, {len(differ)} of {len(cases)} differ:\n" + "\n".join(differ[:10])


def contrast(case: Case, salt: dict[str, Any], here: dict[str, Any]) -> str:
    """What is not the same in each run, and what both said at the end."""
    found = []
    runs = RUNS[: case.get("runs", 3)]
    for name, theirs, ours in zip(runs, seen(case, salt), seen(case, here), strict=True):
        pairs = [(key, theirs.get(key), ours.get(key)) for key in sorted(theirs.keys() | ours.keys())]
        for key, one, other in pairs:
            if isinstance(one, dict) and isinstance(other, dict):
                one, other = (
                    {path: side[path] for path in side if side[path] != rest.get(path)}
                    for side, rest in ((one, other), (other, one))
                )
            if one != other:
                found.append(f"  {name} {key}\n    Salt: {json.dumps(one)}\n    here: {json.dumps(other)}")
    return "\n".join([*found, f"  Salt said: {salt['comment']}", f"  here: {here['comment']}"])


def cases_of(makers: dict[str, Maker], each: int) -> list[Case]:
    cases = []
    for function, make in makers.items():
        chance = Chance(f"{function} {SEED}")
        for _ in range(max(1, each) if function.startswith(ONLY) else 0):
            cases.append({"function": function, "name": "WORK/a", **make(chance)})
    return cases


@needs_salt
def test_states_of_files_do_what_salts_do(tmp_path: Path) -> None:
    compare(tmp_path, cases_of({**TEXTS, **FILES, **ENVIRONMENT}, CASES // 3))


@needs_salt
def test_states_that_run_programs_do_what_salts_do(tmp_path: Path) -> None:
    slow = SLOW if ONLY else {}
    compare(tmp_path, cases_of(PROGRAMS | slow, CASES // 25))


@needs_salt
@needs_root("unshare", "useradd", "crontab", "at")
def test_states_of_the_machine_do_what_salts_do(tmp_path: Path) -> None:
    """In namespaces of mounts and processes, with an own /etc and /home: nothing outside can be signalled."""
    cases = cases_of({**MACHINE, **ACCOUNTS, **SETTINGS, **SCHEDULES, **NETWORKS}, CASES // 8) + cases_of(
        QUEUED, CASES // 25
    )
    compare(tmp_path, cases, apart=True)


@needs_salt
@needs_root("unshare", "augtool")
@pytest.mark.skipif(
    not (OLD_SITE.is_dir() and BINDINGS.is_file()), reason="needs Salt 3006 and python3-augeas"
)
def test_augeas_does_what_salt_3006_does(tmp_path: Path) -> None:
    alone = tmp_path / "bindings"
    alone.mkdir()
    (alone / BINDINGS.name).symlink_to(BINDINGS)
    site = os.pathsep.join(map(str, (OLD_SITE, SITE, alone)))
    compare(tmp_path, cases_of(AUGEAS, CASES // 5), apart=True, site=site)
