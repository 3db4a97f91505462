"""Runs cases in Salt or in saltern, as a program of its own, and prints what came of each as JSON.

``python beside_salt.py SITE WORK`` with the directory of Salt's libraries, or ``saltern`` in its place. The
cases are on the standard input. Each has a fresh directory at the same path, in which it is run in test mode,
then really, then once more. With ``apart`` behind it, in a mount namespace of its own, the cases may change
users, tables of cron and other files of the machine: they have their own.
"""

from __future__ import annotations

import copy
import json
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.compat import world

Call = Callable[[str, str, dict[str, Any], bool], dict[str, Any]]


def salt_calls(site: str, work: Path) -> Call:
    logging.disable(logging.CRITICAL)
    sys.path.insert(0, site)
    import salt.config
    import salt.loader
    import salt.state

    config = work / "minion"
    config.write_text(
        f"root_dir: {work}/root\nid: one\nfile_client: local\nlog_file: /dev/null\n"
        f"file_roots: {{base: [{work}/tree]}}\n"
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
        try:
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
    place.mkdir(exist_ok=True)
    kept, environment = world.read([*roots, str(place)]), dict(os.environ)
    found = []
    for case in cases:
        world.unmount(str(place))
        world.restore([*roots, str(place)], kept)
        os.environ.clear()
        os.environ.update(environment)
        filled = json.loads(json.dumps(case).replace("WORK", str(place)))
        prepare(place, filled["files"])
        before = world.read([*roots, str(place)])
        runs = []
        for test in (True,) * 3 if case.get("only") == "test" else (True, False, False):
            answer = call(filled["function"], filled["name"], copy.deepcopy(filled["args"]), test)
            result, changed = answer["result"], bool(answer["changes"]) or answer["result"] is None
            changes = json.loads(json.dumps(answer["changes"], default=str))
            files = world.difference(before, world.read([*roots, str(place)])) | world.mounted(str(place))
            runs.append({"result": result, "changed": changed, "changes": changes, "files": files})
        crashed = "Traceback" in str(answer["comment"])
        found.append({"runs": runs, "crashed": crashed, "comment": str(answer["comment"])[:300]})
    world.unmount(str(place))
    return found


def prepare(place: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        if name.startswith("/home/ann/"):
            os.chown(path, 1001, 1001)
            os.chown(path.parent, 1001, 1001)


def main() -> None:
    site, work = sys.argv[1], Path(sys.argv[2])
    os.umask(0o022)
    (work / "tree").mkdir(parents=True, exist_ok=True)
    roots = world.set_apart(work) if sys.argv[3:] else []
    call = saltern_calls(work) if site == "saltern" else salt_calls(site, work)
    print(f"\n{json.dumps(answers(call, work, json.load(sys.stdin), roots))}", flush=True)
    os._exit(0)  # Salt leaves threads behind


if __name__ == "__main__":
    main()
