"""The walks of the architecture page are true: each row is a function that exists, called in that order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from saltern.cli.local_fleet import LocalFleet
from saltern.system import ledger
from saltern.system.keeper import KEPT

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "internals" / "architecture.md"
PREPARED = ROOT / "build" / "engines" / "bin"
SOURCE = ROOT / "src" / "saltern"
ROW = re.compile(r"^\| `(?P<file>[\w/]+\.py)` \| `(?P<function>[\w.]+)` \|")
# Runs the program and writes the first call of each of our functions, in order; and which file called which.
TRACE = """
import os, sys
out, root, *sys.argv = sys.argv[1:]
seen, edges = {}, {}
def watch(frame, event, _):
    if event == "call":
        code = frame.f_code
        if code.co_filename.startswith(root):
            path = code.co_filename[len(root) + 1:]
            seen.setdefault((path, code.co_qualname))
            above = frame.f_back
            while above is not None and not above.f_code.co_filename.startswith(root):
                above = above.f_back
            if above is not None and "<module>" not in (code.co_name, above.f_code.co_name):
                edges.setdefault((above.f_code.co_filename[len(root) + 1:], path, code.co_qualname))
def leave(code):
    sys.setprofile(None)
    with open(out, "w") as file:
        file.writelines(f"{path} {name}\\n" for path, name in seen)
    with open(f"{out}.edges", "w") as file:
        file.writelines(f"{caller} {path} {name}\\n" for caller, path, name in edges)
    end(code)
end, os._exit = os._exit, leave
sys.setprofile(watch)
from saltern.__main__ import main
main()
leave(0)
"""
# The same in every process that is started with it on its path; each writes to a file of its own.
EVERYWHERE = """
import os, sys, threading
root, out = os.environ["WALK_ROOT"], os.environ["WALK_OUT"]
seen = set()
def watch(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(root):
        if code.co_qualname == "Inbox.take":
            seen.clear()  # a job begins: what was called before it is called for it, too
        key = (os.getpid(), code.co_filename, code.co_qualname)
        if key not in seen:
            seen.add(key)
            with open(f"{out}/{os.getpid()}", "a") as file:
                file.write(f"{code.co_filename[len(root) + 1:]} {code.co_qualname}\\n")
threading.setprofile(watch)
sys.setprofile(watch)
"""


class Site:
    """A directory with a tree of states, and the program, watched."""

    def __init__(self, base: Path) -> None:
        self.base = base
        (base / "states").mkdir()

    def write(self, name: str, text: str) -> None:
        (self.base / name).write_text(text)

    def env(self) -> dict[str, str]:
        return {
            "PATH": f"{PREPARED}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.base),
            "SALTERN_CACHEDIR": str(self.base / "cache"),
            "SALTERN_STATE_DIR": str(self.base / "runs"),
        }

    def argv(self, *words: str) -> list[str]:
        return [*words, f"--file-root={self.base / 'states'}"]

    def calls(self, *words: str) -> list[tuple[str, str]]:
        """Each function that the command calls, by its first call."""
        out = self.base / "calls"
        command = [sys.executable, "-c", TRACE, str(out), str(SOURCE), "saltern", *words]
        done = subprocess.run(command, env=self.env(), capture_output=True, text=True, cwd=self.base)
        assert done.returncode == 0, done
        return [tuple(line.split(" ", 1)) for line in out.read_text().splitlines()]  # type: ignore[misc]

    def edges(self) -> Iterator[tuple[str, str, str]]:
        """The file of each caller, the file that it called, and the function, of the last command."""
        for line in (self.base / "calls.edges").read_text().splitlines():
            caller, file, function = line.split(" ", 2)
            yield caller, file, function


def apply(site: Site) -> Sequence[tuple[str, str]]:
    site.write("states/web.sls", f"{site.base}/page:\n  file.managed:\n    - contents: hello\n")
    return site.calls(*site.argv("apply", "web"))


def resume(site: Site) -> Sequence[tuple[str, str]]:
    go, begun = site.base / "go", site.base / "begun"
    wait = f"touch {begun}; while [ ! -e {go} ]; do sleep 0.05; done"
    site.write(
        "states/web.sls", f"wait:\n  cmd.run:\n    - name: '{wait}'\nafter:\n  cmd.run:\n    - name: 'true'\n"
    )
    with subprocess.Popen(
        [sys.executable, "-m", "saltern", *site.argv("apply", "web")], env=site.env()
    ) as run:
        while not begun.exists():
            assert run.poll() is None
        run.kill()
    go.touch()
    (kept,) = site.base.rglob(f"*{KEPT}")
    while ledger.at_work(str(kept)):  # `saltern resume` would say that it waits for the program
        time.sleep(0.05)
    return site.calls("resume")


def delayed(site: Site) -> Sequence[tuple[str, str]]:
    site.write(
        "states/web.sls",
        "ask:\n  cmd.run:\n    - name: echo one\n    - delayed_render: [{block: rows}]\n"
        "#!delayed_block rows\nrow:\n  test.nop\n#!end_delayed_block rows\n",
    )
    return site.calls(*site.argv("apply", "web"))


def ansible(site: Site) -> Sequence[tuple[str, str]]:
    if not (PREPARED / "ansible-playbook").exists():
        pytest.skip("needs ansible-core: make engines")
    site.write(
        "states/play.yml", "- hosts: localhost\n  gather_facts: false\n  tasks: [{debug: {msg: hello}}]\n"
    )
    site.write("states/web.sls", "play:\n  ansible.playbooks:\n    - name: salt://play.yml\n")
    return site.calls(*site.argv("apply", "web"))


def check(site: Site) -> Sequence[tuple[str, str]]:
    site.write("states/web.sls", "a:\n  test.nop\n")
    return site.calls(*site.argv("check"))


def chain(site: Site) -> Sequence[tuple[str, str]]:
    site.write("chain.yaml", "chain: greet\nactions:\n  - id: hello\n    command: {run: echo hello}\n")
    return site.calls("chain", "run", "chain.yaml")


WALKS = {
    "`saltern apply web`": apply,
    "`saltern resume`": resume,
    "A delayed frame": delayed,
    "An Ansible task as a sub state": ansible,
    "`saltern check`": check,
    "`saltern chain run`": chain,
}


def rows(title: str) -> Iterator[tuple[str, str]]:
    """File and function of each row of a walk."""
    text = PAGE.read_text()
    section = text.split(f"\n### {title}\n")[1].split("\n#")[0]
    for line in section.splitlines():
        if found := ROW.match(line):
            yield found["file"], found["function"]


# Files with a class that implements a protocol or a type of a lower layer, by which that layer calls it.
PORTS = {
    "engine/loaders.py": "``Loader`` of the compiler",
    "lint/files.py": "the same, for a check",
    "engine/frames.py": "``Frames`` of the runtime",
    "journal/run_journal.py": "``Journal`` of the runtime, and what ``system.effects`` reports to",
    "journal/past.py": "``Past`` of the runtime",
    "facts/lazy_dict.py": "a mapping",
    "lint/findings.py": "``Diagnostics``",
    "chains/leg_work.py": "a sink of events",
    "cli/chain_output.py": "the same, for people",
    "modules/lib/engines/drive.py": "a sink of lines",
}


def _layers() -> dict[str, int]:
    """The packages by their layer, the lowest first, as the import linter has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["name"] == "Data flows one way")
    return {name.strip(): at for at, row in enumerate(reversed(layers)) for name in row.split("|")}


def _turns_back(site: Site) -> set[tuple[str, str, str]]:
    """Calls from a lower layer into an upper one that go through no port."""
    layers = _layers()

    def layer(file: str) -> int:
        return layers.get(file.split("/")[0], len(layers))

    return {
        (caller, file, function)
        for caller, file, function in site.edges()
        if layer(file) > layer(caller)
        and file not in PORTS
        and not function.endswith(("<lambda>", "<genexpr>"))
    }


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_turns_back_once_at_most(title: str, tmp_path: Path) -> None:
    site = Site(tmp_path)
    WALKS[title](site)
    assert len([*site.edges()]) > 100
    assert len(_turns_back(site)) <= 1, _turns_back(site)


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_calls_what_the_page_says_in_that_order(title: str, tmp_path: Path) -> None:
    expected = [*rows(title)]
    assert len(expected) >= 5
    calls = WALKS[title](Site(tmp_path))
    missing = [row for row in expected if row not in calls]
    assert not missing
    begin = 0
    for row in expected:
        assert row in calls[begin:], (row, "is called before what stands above it")
        begin = calls.index(row, begin)


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> list[list[tuple[str, str]]]:
    """What each process of a job has called: the command, the controller, the agent, its workers."""
    base = tmp_path_factory.mktemp("fleet")
    for name in ("calls", "site"):
        (base / name).mkdir()
    (base / "site" / "sitecustomize.py").write_text(EVERYWHERE)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(base),
        "PYTHONPATH": f"{base / 'site'}{os.pathsep}{SOURCE.parent}",
        "SALTERN_CACHEDIR": str(base / "cache"),
        "SALTERN_STATE_DIR": str(base / "state"),
        "WALK_OUT": str(base / "calls"),
        "WALK_ROOT": str(SOURCE),
    }
    fleet = LocalFleet(str(base / "f"), env)
    try:
        fleet.write("controller/salt/web.sls", f"{base}/page:\n  file.managed:\n    - contents: hello\n")
        fleet.start(["web1"])
        words = ["apply", "--controller", fleet.socket, "web", "--on", "web*"]
        command = [sys.executable, "-m", "saltern", *words]
        done = subprocess.run(command, env=env, cwd=base, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done
    finally:
        fleet.stop()
    return [
        [tuple(line.split(" ", 1)) for line in file.read_text().splitlines()]  # type: ignore[misc]
        for file in (base / "calls").iterdir()
    ]


JOB = ("command", "controller", "agent", "worker")


@pytest.mark.parametrize("part", JOB)
def test_a_job_is_the_walk_of_four_processes(part: str, processes: list[list[tuple[str, str]]]) -> None:
    expected = [*rows(f"A job: the {part}")]
    assert len(expected) >= 5
    calls = max(processes, key=lambda calls: len({*expected} & {*calls}))
    assert not [row for row in expected if row not in calls]
    positions = [calls.index(row) for row in expected]
    assert positions == sorted(positions), [row for _, row in sorted(zip(positions, expected, strict=True))]
