"""Runs cases in Salt or in saltern, as a program of its own, and prints what came of each as JSON.

``python beside_salt.py SITE WORK`` with the directories of Salt's libraries, or ``saltern`` in their place.
The cases are on the standard input. Each has a fresh directory at the same path, in which it is run in test
mode, then really, then once more. With ``apart`` behind it, in a mount namespace of its own, the cases may
change users, tables of cron and other files of the machine: they have their own.
"""

from __future__ import annotations

import copy
import json
import logging
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.compat import world
from tests.compat.file_cases import TREE
from tests.compat.salt_schedule import scheduler

INCLUDED = "here/minion.d/*.conf"  # beside the configuration
WHEELS = str(Path(__file__).with_name("wheels.py"))
Call = Callable[[str, str, dict[str, Any], bool], dict[str, Any]]


def salt_calls(site: str, work: Path) -> Call:
    logging.disable(logging.CRITICAL)
    sys.path[:0] = site.split(os.pathsep)
    import salt.config
    import salt.loader
    import salt.state

    config = work / "minion"
    config.write_text(
        f"root_dir: {work}/root\nid: one\nfile_client: local\nlog_file: /dev/null\n"
        f"file_roots: {{base: [{work}/tree]}}\nlocal: true\ndefault_include: {INCLUDED}\n"
    )
    options = salt.config.minion_config(str(config))
    for key in ("cachedir", "pki_dir", "sock_dir"):
        os.makedirs(options[key], exist_ok=True)
    options["grains"] = salt.loader.grains(options)
    engines = {
        test: salt.state.State(copy.deepcopy(options) | {"test": test}) for test in (True, False)
    }  # one for each mode: loaded modules keep their options

    def call(function: str, name: str, args: dict[str, Any], test: bool) -> dict[str, Any]:
        state, _, fun = function.partition(".")
        for key in set(engines[test].state_con) - {"fileclient"}:  # what it remembers of the call before
            del engines[test].state_con[key]
        low = {"state": state, "fun": fun, "name": name, "__id__": name, "__sls__": "x", "__env__": "base"}
        near = scheduler(options, engines[test].functions) if state == "schedule" else nullcontext()
        try:
            with near:
                found = engines[test].call({**low, "order": 1, **args})
        except Exception as problem:  # what it does not catch ends its run
            return {"result": False, "changes": {}, "comment": f"Traceback: {problem}"}
        return {key: found[key] for key in ("result", "changes", "comment")}

    return call


def saltern_calls(work: Path) -> Call:
    sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
    from saltern.config.settings import Settings
    from saltern.engine.nested_engine import make_session
    from saltern.engine.single import single
    from saltern.language.diagnostics import SalternError
    from saltern.report.salt import to_dict

    sessions = {
        test: make_session(
            Settings(
                id="one",
                file_roots={"base": [f"{work}/tree"]},
                cachedir=f"{work}/cache",
                state_dir=f"{work}/runs",
                test=test,
                files=[f"{work}/minion"],
                extra={"default_include": INCLUDED},
            )
        )
        for test in (True, False)
    }

    def call(function: str, name: str, args: dict[str, Any], test: bool) -> dict[str, Any]:
        try:
            found: Any = next(iter(to_dict(single(sessions[test], function, name, args)).values()))
        except SalternError as problem:
            return {"result": False, "changes": {}, "comment": str(problem)}
        return {key: found[key] for key in ("result", "changes", "comment")}

    return call


def answers(call: Call, work: Path, cases: list[dict[str, Any]], roots: list[str]) -> list[dict[str, Any]]:
    """What came of each case. ``WORK`` in a text is its directory."""
    place = work / "here"
    shutil.rmtree(place, ignore_errors=True)  # what the other program left
    place.mkdir()
    kept, environment = world.read([*roots, str(place)]), dict(os.environ)
    found = []
    for case in cases:
        world.unmount(str(place))
        world.restore([*roots, str(place)], kept)
        os.environ.clear()
        os.environ.update(environment)
        filled = json.loads(json.dumps(case).replace("WORK", str(place)))
        prepare(place, filled.get("files", {}))
        if "setup" in filled:
            shell(place, filled["setup"].replace("PYTHON", sys.executable).replace("WHEELS", WHEELS))
        before = world.read([*roots, str(place)])
        runs = []
        for test in (True,) * 3 if case.get("only") == "test" else (True, False, False):
            answer = call(filled["function"], filled["name"], copy.deepcopy(filled["args"]), test)
            result, changed = answer["result"], bool(answer["changes"]) or answer["result"] is None
            changes = json.loads(json.dumps(answer["changes"], default=str))
            changes.pop("pid", None)
            if "look" in filled:
                files = {"seen": shell(place, filled["look"])}
            else:
                files = world.difference(before, world.read([*roots, str(place)]))
                files |= world.mounted(str(place))
                files |= variables(environment) if filled["function"] == "environ.setenv" else {}
            runs.append({"result": result, "changed": changed, "changes": changes, "files": files})
        crashed = "Traceback" in str(answer["comment"])
        found.append({"runs": runs, "crashed": crashed, "comment": str(answer["comment"])[:300]})
    world.unmount(str(place))
    return found


def shell(place: Path, script: str) -> str:
    done = subprocess.run(["/bin/bash", "-c", script], cwd=place, capture_output=True, text=True, check=False)
    return done.stdout


def variables(before: dict[str, str]) -> dict[str, str]:
    """What is different in the environment."""
    now = dict(os.environ)
    return {f"${key}": now.get(key, "gone") for key in before | now if before.get(key) != now.get(key)}


def prepare(place: Path, files: dict[str, Any]) -> None:
    """Writes files. Each is a text, or a mapping: ``text``, ``link`` or ``folder``, ``mode``, ``age``."""
    for name, what in files.items():
        path = place / name
        wanted: dict[str, Any] = {"text": what} if isinstance(what, str) else what
        path.parent.mkdir(parents=True, exist_ok=True)
        if "link" in wanted:
            path.symlink_to(wanted["link"])
            os.lchown(path, *(wanted.get("owner", 0),) * 2)
            continue
        if "folder" in wanted:
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(wanted["text"].encode())
        if "mode" in wanted:
            path.chmod(wanted["mode"])
        if "age" in wanted:
            os.utime(path, (time.time() - wanted["age"],) * 2)
        if name.startswith("/home/ann/"):
            os.chown(path, 1001, 1001)
            os.chown(path.parent, 1001, 1001)


def main() -> None:
    site, work = sys.argv[1], Path(sys.argv[2])
    os.umask(0o022)
    if not (work / "tree").exists():
        (work / "tree").mkdir(parents=True)
        prepare(work / "tree", TREE)
    roots = world.set_apart(work) if sys.argv[3:] else []
    call = saltern_calls(work) if site == "saltern" else salt_calls(site, work)
    print(f"\n{json.dumps(answers(call, work, json.load(sys.stdin), roots))}", flush=True)
    os._exit(0)  # Salt leaves threads behind


if __name__ == "__main__":
    main()
