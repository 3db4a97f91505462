"""An update in the middle of a chain, with real builds in real virtual environments.

Numbers are items of the list of faults in the design of chains.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

from tests.barriers.builds import HANGING, MUTE, NEW, OLD
from tests.barriers.wheels import make_slot

from saltern.config.settings import Settings
from saltern.journal.runs import Runs

CHAIN = """
chain: update
actions:
  - {{id: before, command: {{run: 'echo before >> {place}/log'}}}}
  - {{id: update, agent: {{version: {version}, source: {wheels}, slots: {place}/opt, deadline: {deadline}}}}}
  - {{id: after, command: {{run: 'echo after $(readlink {place}/opt/current) >> {place}/log'}}}}
"""


class Site:
    """A machine with the old build in slot a."""

    def __init__(self, place: Path, wheels: Path, version: str, deadline: float = 300) -> None:
        self.place = place
        make_slot(place / "opt", wheels, OLD)
        text = CHAIN.format(place=place, wheels=wheels, version=version, deadline=deadline)
        (place / "chain.yaml").write_text(text)
        (place / "states").mkdir()
        self.env = {**os.environ, "SALTERN_STATE_DIR": str(place / "state")}

    def chain(self, *words: str) -> subprocess.CompletedProcess[str]:
        program = self.place / "opt/current/bin/python"
        roots = ["--file-root", str(self.place / "states")]
        command = [str(program), "-m", "saltern", "chain", *words, *roots, "--out", "json"]
        return subprocess.run(command, env=self.env, capture_output=True, text=True)

    def run(self) -> subprocess.CompletedProcess[str]:
        return self.chain("run", str(self.place / "chain.yaml"))

    def leg(self) -> dict[str, object]:
        (found,) = json.loads(self.chain("status").stdout)["local"]
        assert isinstance(found, dict)
        return found

    def ended(self, within: float = 300) -> dict[str, dict[str, object]]:
        """Action → what is told of it, once the leg is over."""
        end = time.monotonic() + within
        while self.leg()["status"] in ("running", "updating") and time.monotonic() < end:
            time.sleep(0.5)
        rows = self.leg()["steps"]
        assert isinstance(rows, list)
        return {str(row["action"]): row for row in rows}

    @property
    def log(self) -> list[str]:
        return (self.place / "log").read_text().splitlines()

    @property
    def current(self) -> str:
        return os.readlink(self.place / "opt/current")


def statuses(rows: dict[str, dict[str, object]]) -> dict[str, object]:
    return {name: row["status"] for name, row in rows.items()}


def test_a_chain_goes_on_in_the_new_build(tmp_path: Path, wheels: Path) -> None:
    site = Site(tmp_path, wheels, NEW)
    done = site.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert statuses(site.ended()) == dict.fromkeys(("before", "update", "after"), "succeeded")
    printed = [row["action"] for row in json.loads(done.stdout)["local"]["steps"]]
    assert printed == ["before", "update", "after"], "the new build prints the chain, not its last segment"
    assert site.log == ["before", "after slots/b"]
    assert site.current == "slots/b"


def test_25_a_build_that_runs_already_is_skipped_at_once(tmp_path: Path, wheels: Path) -> None:
    site = Site(tmp_path, wheels, OLD, deadline=4000)  # which it would wait for
    assert site.run().returncode == 0
    assert statuses(site.ended()) == {"before": "succeeded", "update": "skipped", "after": "succeeded"}
    assert site.current == "slots/a"


def test_28_a_build_that_cannot_read_the_journal_is_never_switched_to(tmp_path: Path, wheels: Path) -> None:
    site = Site(tmp_path, wheels, MUTE)
    assert site.run().returncode == 2
    rows = site.ended()
    assert statuses(rows) == {"before": "succeeded", "update": "failed", "after": "not run"}
    assert "cannot read the journal of this run" in str(rows["update"]["comment"])
    assert rows["after"]["blocked_by"] == "update"
    assert site.current == "slots/a"
    assert site.log == ["before"]


def test_28_a_build_that_does_not_come_up_is_switched_back(tmp_path: Path, wheels: Path) -> None:
    site = Site(tmp_path, wheels, HANGING, deadline=4)
    site.run()
    rows = site.ended()
    assert statuses(rows) == {"before": "succeeded", "update": "failed", "after": "not run"}
    assert "did not take over within 4 seconds" in str(rows["update"]["comment"])
    assert rows["after"]["blocked_by"] == "update"
    assert site.current == "slots/a"
    assert site.log == ["before"]
    later = tmp_path / "later.yaml"
    later.write_text("chain: later\nactions:\n  - {id: a, command: {run: 'true'}}\n")
    assert site.chain("run", str(later)).returncode == 0, "later chains work"


# Stands for a package manager that brings another build along: it replaces the files of the running one.
BRINGS = """
import os, saltern

def installed(name, **kwargs):
    place = saltern.__file__
    with open(place) as file:
        text = file.read()
    if "NEW" in text:
        return {"name": name, "result": True, "comment": "", "changes": {}}
    with open(place + ".new", "w") as file:
        file.write(text.replace("OLD", "NEW"))
    os.replace(place + ".new", place)
    return {"name": name, "result": True, "comment": "", "changes": {"saltern": {"old": "OLD", "new": "NEW"}}}
"""


def test_30_a_build_that_comes_along_with_a_package_is_gone_on_with(tmp_path: Path, wheels: Path) -> None:
    site = Site(tmp_path, wheels, OLD)
    (tmp_path / "states/_states").mkdir()
    (tmp_path / "states/_states/pkg.py").write_text(BRINGS.replace("OLD", OLD).replace("NEW", NEW))
    text = (tmp_path / "chain.yaml").read_text().splitlines()
    text[4] = "  - {id: update, packages: {install: [something]}}"
    (tmp_path / "chain.yaml").write_text("\n".join(text))
    done = site.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert statuses(site.ended()) == dict.fromkeys(("before", "update", "after"), "succeeded")
    assert site.log == ["before", "after slots/a"]
    runs = Runs(Settings(state_dir=str(tmp_path / "state")))
    (barrier,) = [one for jid in runs.jids() for one in runs.state(jid).barriers]
    assert (barrier["ask"]["from"], barrier["now"]["version"]) == (OLD, NEW)
