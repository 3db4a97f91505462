"""Files at a site: they pass the link once, whatever happens to the site meanwhile. Real processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.fleet.sites.fleet import Fleet
from tests.fleet.ssh.proxy import DOWN

from saltern.fleet.broker.process import left_running
from saltern.fleet.broker.site_broker import CONFIG_FILE
from saltern.fleet.broker.sites import Kit

SIZE = 4 * 1024 * 1024
AGENTS = ("e1", "e2", "e3", "e4")
BIG = "big:\n  file.managed:\n    - name: {place}/got/{{{{ grains['id'] }}}}-{name}\n"
BIG += "    - source: salt://files/{name}\n    - makedirs: true\n"


class Files:
    """A fleet whose site has several agents, and large files that are new to all of them."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet

    @property
    def folder(self) -> Path:
        return self.fleet.base / "east/site/east"

    def new_file(self, name: str, size: int = SIZE) -> None:
        salt = self.fleet.base / "controller/salt"
        (salt / "files").mkdir(exist_ok=True)
        (salt / f"{name}.sls").write_text(BIG.format(place=self.fleet.base, name=name))
        (salt / "files" / name).write_bytes(os.urandom(size))

    def apply(self, name: str, *agents: str) -> int:
        """Have agents get the file; the bytes that came over the link."""
        data = (self.fleet.base / "controller/salt/files" / name).read_bytes()
        before = self.fleet.wire.counts[DOWN]
        done = self.fleet.on("apply", name, "--on", f"L@{','.join(agents)}", "--out", "json")
        assert done.returncode == 0, done.stdout + done.stderr + self.fleet.logs()
        assert set(json.loads(done.stdout)) == set(agents)
        for agent in agents:
            assert (self.fleet.base / "got" / f"{agent}-{name}").read_bytes() == data
        return self.fleet.wire.counts[DOWN] - before


@pytest.fixture(scope="module")
def files() -> Iterator[Files]:
    directory = Path(tempfile.mkdtemp(prefix="site")).resolve()
    fleet = Fleet(directory)
    try:
        fleet.start()
        for name in AGENTS[1:]:
            fleet.join(name)
        for name in AGENTS:
            fleet.until(lambda name=name: fleet.is_here(name))  # type: ignore[misc]
        yield Files(fleet)
    finally:
        fleet.stop()
        shutil.rmtree(directory, ignore_errors=True)


def test_a_file_for_many_agents_passes_the_link_once(files: Files) -> None:
    files.new_file("first")
    assert SIZE < files.apply("first", *AGENTS) < 1.5 * SIZE
    assert [*(files.folder / "files").glob("??/*")]


def test_the_next_agent_gets_it_without_the_link(files: Files) -> None:
    files.new_file("second")
    assert SIZE < files.apply("second", "e1") < 1.5 * SIZE
    assert files.apply("second", "e2", "e3") < 0.5 * SIZE


def test_a_site_whose_broker_is_killed_has_its_files_afterwards(files: Files) -> None:
    files.new_file("third")
    assert files.apply("third", "e1") < 1.5 * SIZE
    os.kill(broker_of(files), signal.SIGKILL)
    files.fleet.until(lambda: "started again" in (files.fleet.base / "east.log").read_text())
    wait_for_agents(files)
    assert files.apply("third", "e2", "e3") < 0.5 * SIZE


def test_a_site_that_has_lost_its_disk_fetches_again_once(files: Files) -> None:
    files.new_file("fourth")
    assert files.apply("fourth", "e1") < 1.5 * SIZE
    shutil.rmtree(files.folder / "files")
    assert SIZE < files.apply("fourth", "e2", "e3", "e4") < 1.5 * SIZE


def test_a_damaged_piece_is_fetched_again(files: Files) -> None:
    files.new_file("fifth")
    files.apply("fifth", "e1")
    for path in (files.folder / "files").glob("??/*"):
        path.write_bytes(b"damaged")
    assert SIZE < files.apply("fifth", "e2", "e3") < 1.5 * SIZE


def test_while_the_process_of_the_site_is_gone_agents_get_files_from_the_fleet(files: Files) -> None:
    """Its broker outlives it. The next process takes the broker over, and serves again."""
    assert files.fleet.site is not None
    files.fleet.site.kill()
    files.fleet.site.wait()
    files.new_file("sixth")
    assert files.apply("sixth", "e1", "e2") > 2 * SIZE
    (files.fleet.base / "east.log").write_text("")
    files.fleet.run_site()
    for name in AGENTS:
        files.fleet.until(lambda name=name: asks_the_site(files, name))  # type: ignore[misc]
    files.new_file("seventh")
    assert files.apply("seventh", *AGENTS) < 1.5 * SIZE


def test_a_kit_of_before_works_as_before_and_says_what_to_do(files: Files) -> None:
    path = files.fleet.base / "east.kit"
    kit = msgspec.json.decode(path.read_bytes(), type=Kit)
    files.fleet.stop_site()
    path.write_bytes(msgspec.json.encode(replace(kit, own="")))
    files.fleet.run_site()
    said = (files.fleet.base / "east.log").read_text()
    assert "no files are kept here" in said
    assert "saltern site add east" in said
    for name in AGENTS:
        files.fleet.until(lambda name=name: pings(files, name))  # type: ignore[misc]
    files.new_file("eighth")
    assert files.apply("eighth", "e1", "e2") > 2 * SIZE
    files.fleet.stop_site()
    path.write_bytes(msgspec.json.encode(kit))
    files.fleet.run_site()
    wait_for_agents(files)


def test_a_site_ends_at_a_signal_and_leaves_no_process(files: Files) -> None:
    broker = broker_of(files)
    files.fleet.stop_site()
    assert not runs(broker)
    files.fleet.run_site()
    wait_for_agents(files)


def broker_of(files: Files) -> int:
    found = left_running(str(files.folder), str(files.folder / CONFIG_FILE))
    assert found
    return found


def runs(pid: int) -> bool:
    """True if the process runs: a zombie, which a process that took it over cannot wait for, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def pings(files: Files, name: str) -> bool:
    return files.fleet.on("call", "test.ping", "--on", name).returncode == 0


def wait_for_agents(files: Files) -> None:
    """Until all of them are connected again, and ask the site: other tests follow, in any order."""
    for true in (pings, asks_the_site):
        for name in AGENTS:
            files.fleet.until(lambda true=true, name=name: true(files, name))  # type: ignore[misc]


def asks_the_site(files: Files, agent: str) -> bool:
    """True if an agent gets from the site what another one has: after a site that did not answer, agents do
    not ask it for a while.
    """
    other, name = AGENTS[agent == AGENTS[0]], f"small{time.monotonic_ns()}"
    files.new_file(name, size=SIZE // 4)
    files.apply(name, other)
    return files.apply(name, agent) < SIZE // 8
