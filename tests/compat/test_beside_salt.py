"""States run in Salt and here with the same random arguments: of files, users, tables of cron, and others.

The results, whether something changed, and the files are the same in test mode, in the run and in a second
run. What differs on purpose is in ``docs/internals/quirks.md``, and no case has it. A failure prints the
seed and the case; ``SALTERN_BESIDE_SEED``, ``SALTERN_BESIDE_CASES`` and ``SALTERN_BESIDE_ONLY`` choose
others, the last one by the beginning of a function's name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.compat.account_cases import ACCOUNTS
from tests.compat.chance import Case, Chance
from tests.compat.machine_cases import MACHINE
from tests.compat.setting_cases import LOOSE, SETTINGS, meanings
from tests.compat.test_salt_library import SITE, needs_salt
from tests.modules.bench import needs_root

RUNS = ("in test mode", "in the run", "in the second run")
PROGRAM = Path(__file__).parent / "beside_salt.py"
SEED = os.environ.get("SALTERN_BESIDE_SEED", "1")
CASES = int(os.environ.get("SALTERN_BESIDE_CASES", "25"))
ONLY = os.environ.get("SALTERN_BESIDE_ONLY", "")
LINES = (
    "a",
    "b",
    "foo",
    "bar",
    "foo bar",
    "# foo",
    "#foo",
    "foo=1",
    "foo = 1",
    "Port 22",
    "bar: 2",
    "x.y",
    "",
)
TREE = {"f": "file\n", "g": "file\n", "t/a": "1\n", "t/sub/b": "2\n", "t/sub/deep/c.bak": "c"}


def line(chance: Chance) -> Case:
    mode = chance.choice(("ensure", "replace", "delete", "insert"))
    args = {"mode": mode, "content": chance.choice((*LINES[:-1], "new", "bar=3"))}
    if mode in ("ensure", "insert"):
        args |= {chance.choice(("before", "after")): chance.choice(("^b$", "Port", "x.y", "zzz"))}
        args["content"] = chance.choice(("new", "other line"))
    else:
        args["match"] = chance.choice(("Port", "x.y", "zzz", "bar:"))
    text = "".join(f"{one}\n" for one in chance.sample(LINES[:-1], chance.randrange(1, 8)))
    return {"args": args | chance.some(indent=(True, False)), "files": {"a": text}}


def replace(chance: Chance) -> Case:
    patterns = ("foo", "^foo", "fo+", "bar$", r"(foo)=(\d)", r"^#\s*(Port)", "zzz", "x.y", "a|b", "foo.*")
    options = chance.some(
        count=(0, 1, 2), append_if_not_found=(True,), backup=(False, ".orig"), show_changes=(False,)
    )
    args = {"pattern": chance.choice(patterns), "repl": chance.choice(("new", r"\g<0>!", "", "bar=9"))}
    return {"args": args | options, "files": {"a": chance.lines(LINES, end=chance.choice(("\n", "\r\n")))}}


def comment(chance: Chance) -> Case:
    patterns = ("^foo", "^bar", "^Port", "^foo=1", "^(foo|bar).*", "^#foo", "^x.y")
    options = chance.some(char=("//", ";"), backup=(False, ".orig"))
    return {"args": {"regex": chance.choice(patterns)} | options, "files": {"a": "foo\nbar\nPort 22\nx.y\n"}}


def uncomment(chance: Chance) -> Case:
    text = "".join(chance.choice(("#", "# ", "")) + f"{word}\n" for word in ("foo", "bar", "Port 22"))
    args = {"regex": chance.choice(("foo", "^foo", "bar", "Port"))}
    return {"args": args | chance.some(backup=(False, ".orig")), "files": {"a": text}}


def blockreplace(chance: Chance) -> Case:
    start, end = chance.choice(("# start", "#-- s --")), chance.choice(("# end", "#-- e --"))
    inner, rest = (
        chance.choice(("", "old\n", "x\ny\n", f"{start}\nq\n")),
        chance.choice(("", "\n", "\nrest\n")),
    )
    block = f"{chance.lines(LINES)}{start}\n{inner}{end}{rest}"
    options = chance.some(append_newline=(True, False, None), backup=(False, ".old"))
    where = {"append_if_not_found": True, "prepend_if_not_found": True, "insert_before_match": "foo"}
    place = chance.choice((*where, "insert_after_match"))
    options |= {place: where.get(place, "^b")}
    args = {"marker_start": start, "marker_end": end, "content": chance.choice(("new", "x\ny", "x\ny\n", ""))}
    text = chance.choice((block, block, chance.lines(LINES), chance.lines(LINES, end="\r\n")))
    return {"args": args | options, "files": {"a": text}}


def keyvalue(chance: Chance) -> Case:
    keys = chance.sample(("foo", "bar", "Port", "new"), chance.randrange(1, 3))
    args = {"key_values": {key: chance.choice(("1", "2", 22, "x y")) for key in keys}}
    options = chance.some(append_if_not_found=(True,), key_ignore_case=(True,), value_ignore_case=(True,))
    options |= {"separator": chance.choice(("=", " ", ": ", " = "))}
    options |= {"count": 0} if not options.get("append_if_not_found") and chance.random() < 0.2 else {}
    files = {"a": chance.lines(LINES)} if chance.random() < 0.8 else {}
    return {"args": args | options | {"create_if_missing": True}, "files": files}


def append(chance: Chance) -> Case:
    texts = ("new", "foo", "x\ny\nz", ["foo", "new"], ["a", "b"], 5, "a\n\nb", "foo=1\n\n", "\n", "Port 22")
    options = {"text": chance.choice(texts)}
    return {"args": options, "files": {"a": chance.lines(LINES, end=chance.choice(("\n", "\r\n")))}}


def serialize(chance: Chance) -> Case:
    data = (
        {"a": 1, "b": {"c": [1, "x"]}},
        {"a": "é", "n": None, "t": True},
        {"z": 1, "a": 2},
        {"s": {"k": "v"}},
        {"l": [1, 2]},
    )
    form, old = chance.choice((("json", '{"a": 1, "l": [3]}'), ("yaml", "a: 1\nb:\n  d: 2\n")))
    options = chance.some(merge_if_exists=(True,), mode=("0600", "640"), show_changes=(False,))
    args = {"dataset": chance.choice(data), "serializer": form}
    return {"args": args | options, "files": {"a": old} if chance.random() < 0.8 else {}}


def directory(chance: Chance) -> Case:
    options = chance.some(
        mode=("0750", 755, "700"),
        file_mode=("0600",),
        makedirs=(True,),
        clean=(True,),
        force=(True,),
        exclude_pat=("a", "sub*", "E@^sub"),
        max_depth=(0, 1),
    )
    options |= {"recurse": ["mode"]} if chance.random() < 0.3 else {}
    names = ("WORK/t", "WORK/new", "WORK/new/x", "WORK/f", "WORK/t/sub")
    return {"name": chance.choice(names), "args": options, "files": TREE}


def managed(chance: Chance) -> Case:
    contents = ("x", "x\n", "a\nb", ["a", "b"], ["a", "", "b"], 5, True, "", "é", [1, 2])
    options = chance.some(
        mode=("0600", 640), makedirs=(True,), replace=(False,), contents_newline=(False,), create=(False,)
    )
    names = ("WORK/new", "WORK/x/new", "WORK/f")
    return {
        "name": chance.choice(names),
        "args": {"contents": chance.choice(contents)} | options,
        "files": TREE,
    }


def hardlink(chance: Chance) -> Case:
    args = {"target": chance.choice(("WORK/f", "WORK/t", "/none-such"))}
    names = ("WORK/new", "WORK/x/new", "WORK/g", "WORK/t")
    return {
        "name": chance.choice(names),
        "args": args | chance.some(force=(True,), makedirs=(True,)),
        "files": TREE,
    }


def absent(chance: Chance) -> Case:
    return {"name": chance.choice(("WORK/f", "WORK/t", "WORK/none")), "args": {}, "files": TREE}


MAKERS: tuple[Callable[[Chance], Case], ...] = (
    line,
    replace,
    comment,
    uncomment,
    blockreplace,
    keyvalue,
    append,
    serialize,
    directory,
    managed,
    hardlink,
    absent,
)


def run(site: str, work: Path, cases: list[Case], *, apart: bool = False) -> list[dict[str, Any]]:
    program = [sys.executable, str(PROGRAM), site, str(work)]
    done = subprocess.run(
        ["unshare", "--mount", *program, "apart"] if apart else program,
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
    for number, run in enumerate(answer["runs"]):
        found = run | {"files": meanings(case, run["files"])}
        if number != 1 or case["function"].startswith("file.") or case["function"] in LOOSE:
            del found["changes"]
        runs.append(found)
    return runs


def compare(work: Path, cases: list[Case], *, apart: bool = False) -> None:
    theirs, ours = (run(site, work, cases, apart=apart) for site in (str(SITE), "saltern"))
    differ = [
        f"{json.dumps(case)}\n{contrast(case, salt, here)}"
        for case, salt, here in zip(cases, theirs, ours, strict=True)
        if not salt["crashed"] and seen(case, salt) != seen(case, here)
    ]
    assert not differ, f"seed {SEED}, {len(differ)} of {len(cases)} differ:\n" + "\n".join(differ[:10])


def contrast(case: Case, salt: dict[str, Any], here: dict[str, Any]) -> str:
    """What is not the same in each run, and what both said at the end."""
    found = []
    for name, theirs, ours in zip(RUNS, seen(case, salt), seen(case, here), strict=True):
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


@needs_salt
def test_states_of_files_do_what_salts_do(tmp_path: Path) -> None:
    cases = []
    for make in MAKERS:
        if not f"file.{make.__name__}".startswith(ONLY):
            continue
        chance = Chance(f"{make.__name__} {SEED}")
        for _ in range(CASES):
            cases.append({"function": f"file.{make.__name__}", "name": "WORK/a", **make(chance)})
    compare(tmp_path, cases)


@needs_salt
@needs_root("unshare", "useradd", "crontab")
def test_states_of_the_machine_do_what_salts_do(tmp_path: Path) -> None:
    """In a mount namespace with its own /etc and /home."""
    cases = []
    for function, make in {**MACHINE, **ACCOUNTS, **SETTINGS}.items():
        if not function.startswith(ONLY):
            continue
        chance = Chance(f"{function} {SEED}")
        for _ in range(max(1, CASES // 8)):
            cases.append({"function": function, "name": "WORK/a", **make(chance)})
    compare(tmp_path, cases, apart=True)
