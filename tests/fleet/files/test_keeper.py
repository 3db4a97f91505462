"""Versions of trees on a controller: published with each job, kept, compared, returned to, removed."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.harness import run

from saltern.fleet.bus.memory import MemoryBus, MemoryHub
from saltern.fleet.controller.calls import Calls
from saltern.fleet.files.agent import AgentFiles
from saltern.fleet.files.cache import Cache
from saltern.fleet.files.git import parse_remote
from saltern.fleet.files.keeper import Roots, TreeKeeper
from saltern.fleet.files.pieces import PIECE
from saltern.fleet.files.sweep import Sweeper
from saltern.fleet.protocol.messages import Job
from saltern.fleet.store import audit
from saltern.fleet.store.database import Database
from saltern.fleet.store.jobs import NewJob, create_job
from saltern.language.diagnostics import OperationError


class Controller:
    """A controller's trees over a memory bus and a real database."""

    def __init__(self, place: Path, database: Database, roots: dict[str, list[str]]) -> None:
        self.hub = MemoryHub()
        self.place = place
        self.database = database
        self.calls = Calls(database)
        self.time = 1000.0
        self.keeper = self.make(roots)
        self.sweeper = Sweeper(self.bus(), self.calls, name="c1", now=lambda: self.time)

    def bus(self) -> MemoryBus:
        return self.hub.connect("c1")

    def make(self, roots: dict[str, list[str]], name: str = "c1") -> TreeKeeper:
        directory = self.place / name
        directory.mkdir(exist_ok=True)
        about = Roots(roots=roots, directory=str(directory), git_interval=0)
        return TreeKeeper(self.bus(), self.calls, about, name=name, now=lambda: self.time)

    def agent(self, name: str = "web1") -> AgentFiles:
        return AgentFiles(Cache(str(self.place / name)), self.hub.connect(name), wait=0.2)

    async def text(self, tree: str, path: str, name: str = "web1") -> str:
        return Path(await self.agent(name).ensure(tree), "roots", path).read_text()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "srv"
    root.mkdir()
    (root / "a.sls").write_text("one\n")
    return root


@pytest.fixture
def controller(tmp_path: Path, root: Path, database: Database) -> Iterator[Controller]:
    made = Controller(tmp_path, database, {"base": [str(root)]})
    yield made
    made.calls.close()


def test_a_job_gets_the_roots_as_they_are_when_it_is_submitted(controller: Controller, root: Path) -> None:
    async def scenario() -> None:
        keeper = controller.keeper
        await keeper.start()
        first = await keeper.newest("base")
        assert await keeper.newest("base") == first
        controller.time += 1
        (root / "a.sls").write_text("two\n")
        second = await keeper.newest("base")
        assert [await controller.text(one, "base/a.sls") for one in (first, second)] == ["one\n", "two\n"]
        log = await keeper.versions.log("base")
        rows = [(row.at, row.by, row.files, row.size) for row in log]
        assert rows == [(1001.0, "c1", 1, 4), (1000.0, "c1", 1, 4)]

    run(scenario())


def test_jobs_that_are_submitted_at_once_share_a_scan_and_none_gets_an_older_tree(
    controller: Controller, root: Path
) -> None:
    async def scenario() -> None:
        keeper = controller.keeper
        await keeper.start()
        scans = []
        original = keeper.publisher.scan

        async def scan(roots: object) -> object:
            scans.append(1)
            return await original(roots)  # type: ignore[arg-type]

        keeper.publisher.scan = scan  # type: ignore[assignment,method-assign]
        early = asyncio.create_task(keeper.newest("base"))
        while not scans:
            await asyncio.sleep(0)
        (root / "a.sls").write_text("changed while the scan was on its way\n")
        late = [asyncio.create_task(keeper.newest("base")) for _ in range(20)]
        await early
        trees = {await one for one in late}
        assert len(trees) == 1 and len(scans) <= 3  # one more if the file changed while it was stored
        assert "changed" in await controller.text(trees.pop(), "base/a.sls")

    run(scenario())


def test_a_rollback_stays_in_force_until_the_roots_are_followed_again(
    controller: Controller, root: Path
) -> None:
    async def scenario() -> None:
        keeper = controller.keeper
        await keeper.start()
        await keeper.newest("base")
        (root / "a.sls").write_text("two\n")
        await keeper.newest("base")
        (root / "b.sls").write_text("new\n")
        await keeper.newest("base")
        words = {one.path: one.word for one in await keeper.versions.diff("base")}
        assert words == {"b.sls": "added"}
        log = await keeper.versions.log("base")
        words = {
            one.path: one.word
            for one in await keeper.versions.diff("base", log[2].digest[:8], log[0].digest[:8])
        }
        assert words == {"a.sls": "changed", "b.sls": "added"}

        assert await keeper.versions.rollback("base", log[2].digest[:10], "ann") == log[2].digest
        tree = await keeper.newest("base")
        assert await controller.text(tree, "base/a.sls") == "one\n"
        (root / "a.sls").write_text("three\n")
        assert await keeper.newest("base") == tree
        other = controller.make({"base": [str(root)]}, "c2")  # another controller of the fleet
        assert await other.newest("base") == tree
        assert (await keeper.versions.log("base", limit=1))[0].held

        tree = await keeper.follow("base", "ann")
        assert await controller.text(tree, "base/a.sls") == "three\n"
        with controller.database.read() as connection:
            actions = [(row.who, row.action) for row in audit.page(connection)]
        assert actions == [("ann", "tree.rollback"), ("ann", "tree.follow")]

    run(scenario())


def test_a_version_that_is_not_known_or_not_kept_is_refused_with_what_to_do(
    controller: Controller, root: Path
) -> None:
    async def scenario() -> None:
        keeper = controller.keeper
        await keeper.start()
        await keeper.newest("base")
        with pytest.raises(OperationError, match="no earlier version"):
            await keeper.versions.rollback("base", "", "ann")
        with pytest.raises(OperationError, match="no version begins with 'zz'"):
            await keeper.versions.rollback("base", "zz", "ann")
        (root / "a.sls").write_text("two\n")
        await keeper.newest("base")
        controller.hub.stop(lose_disk=True)
        controller.hub.start()
        await keeper.start()
        await keeper.newest("base")
        with pytest.raises(OperationError, match=r"does not have 1 of its files .*a\.sls"):
            await keeper.versions.rollback("base", "", "ann")

    run(scenario())


def test_environments_come_and_go(controller: Controller, tmp_path: Path, root: Path) -> None:
    async def scenario() -> None:
        await controller.keeper.start()
        both = controller.make({"base": [str(root)], "dev": [str(root)]})
        tree = await both.newest()
        assert await controller.text(tree, "dev/a.sls") == "one\n"
        tree = await controller.keeper.newest()
        assert not Path(await controller.agent().ensure(tree), "roots", "dev").exists()
        tree = await both.newest()
        assert await controller.text(tree, "dev/a.sls") == "one\n"

    run(scenario())


def test_blobs_of_old_versions_go_and_those_of_kept_ones_and_of_open_jobs_stay(
    controller: Controller, root: Path
) -> None:
    (root / "big").write_bytes(os.urandom(2 * PIECE + 5))

    async def scenario() -> None:
        keeper, sweeper = controller.keeper, controller.sweeper
        await keeper.start()
        made = []
        for number in range(6):
            (root / "a.sls").write_text(f"version {number}\n")
            if number == 2:
                (root / "big").write_bytes(os.urandom(PIECE + 5))
            made.append(await keeper.newest("base"))
        job = Job(jid="20260101T000000.000001-a", function="state.apply", tree=made[1])
        new = NewJob(job=job, target="*", systems=("web1",), expires=1e9, envelope="x")
        with controller.database.write() as connection:
            create_job(connection, new, controller.time)
        controller.time += 1e6
        assert await sweeper.sweep(versions=2, set_life=100.0) > 0
        for number, tree in enumerate(made):
            fresh = f"agent{number}"
            if number in (1, 4, 5):
                assert await controller.text(tree, "base/a.sls", fresh) == f"version {number}\n"
                await controller.agent(fresh).fetch_path(tree, "base/big")
            else:
                with pytest.raises(Exception, match="broker does not have it"):
                    await controller.text(tree, "base/a.sls", fresh)
        assert await sweeper.sweep(versions=2, set_life=100.0) == 0
        assert len(await keeper.versions.log("base")) == 2

        (root / "a.sls").write_text("version 2\n")  # what was removed is published again
        assert await controller.text(await keeper.newest("base"), "base/a.sls") == "version 2\n"

    run(scenario())


def test_who_publishes_waits_for_one_who_removes_and_then_looks_again(
    controller: Controller, root: Path
) -> None:
    """The blob that is about to be removed is part of the next tree."""

    async def scenario() -> None:
        keeper, sweeper = controller.keeper, controller.sweeper
        await keeper.start()
        await keeper.newest("base")
        (root / "a.sls").write_text("two\n")
        await keeper.newest("base")
        controller.time += 1e6
        (root / "a.sls").write_text("one\n")
        remove = sweeper._blobs.remove
        published: list[asyncio.Task[str]] = []

        async def slow(names: object) -> None:
            published.append(asyncio.create_task(keeper.newest("base")))
            await asyncio.sleep(0.3)
            await remove(names)  # type: ignore[arg-type]

        sweeper._blobs.remove = slow  # type: ignore[method-assign]
        assert await sweeper.sweep(versions=1, set_life=1.0) > 0
        assert await controller.text(await published[0], "base/a.sls") == "one\n"

    run(scenario())


# -- git -------------------------------------------------------------------------------------------


def git(place: Path, *args: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main")
    return subprocess.run(("git", *who, *args), cwd=place, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    place = tmp_path / "repo"
    (place / "salt").mkdir(parents=True)
    git(place, "init", "-q")
    (place / "salt" / "a.sls").write_text("main\n")
    (place / "run.sh").write_text("#!/bin/sh\n")
    (place / "run.sh").chmod(0o755)
    (place / "link").symlink_to("salt/a.sls")
    git(place, "add", ".")
    git(place, "commit", "-qm", "one")
    git(place, "tag", "v1")
    git(place, "checkout", "-qb", "feature/x")
    (place / "salt" / "a.sls").write_text("feature\n")
    git(place, "commit", "-qam", "two")
    git(place, "checkout", "-q", "main")
    return place


def test_a_git_remote_is_a_root_by_branch_tag_commit_and_subdirectory(
    tmp_path: Path, repository: Path, database: Database
) -> None:
    if not database.is_sqlite:
        return
    commit = git(repository, "rev-parse", "feature/x").strip()
    url = f"git+file://{repository}"
    roots = {
        "base": [url],
        "branch": [f"{url}@feature/x"],
        "tag": [f"{url}@v1"],
        "commit": [f"{url}@{commit}"],
        "sub": [f"{url}@main#subdirectory=salt"],
    }
    controller = Controller(tmp_path, database, roots)

    async def scenario() -> None:
        await controller.keeper.start()
        tree = await controller.keeper.newest()
        texts = [
            await controller.text(tree, f"{env}/salt/a.sls") for env in ("base", "branch", "tag", "commit")
        ]
        assert texts == ["main\n", "feature\n", "main\n", "feature\n"]
        assert await controller.text(tree, "sub/a.sls") == "main\n"
        assert await controller.text(tree, "base/link") == "main\n"
        (repository / "salt" / "a.sls").write_text("later\n")
        git(repository, "commit", "-qam", "three")
        tree = await controller.keeper.newest()
        assert await controller.text(tree, "base/salt/a.sls") == "later\n"
        assert await controller.text(tree, "tag/salt/a.sls") == "main\n"
        os.rename(repository, tmp_path / "away")  # the remote is away: what was fetched stays in use
        assert await controller.keeper.newest() == tree
        refs = ("", "@feature/x", "@v1", f"@{commit}", "@main")
        assert list(controller.keeper.git_problems) == [f"{url}{ref}" for ref in refs]

    run(scenario())
    controller.calls.close()


def test_an_unknown_reference_or_an_address_that_is_away_is_reported(
    tmp_path: Path, repository: Path, database: Database
) -> None:
    if not database.is_sqlite:
        return
    for root, code in (
        (f"git+file://{repository}@none", "git-reference"),
        (f"git+file://{tmp_path}/none.git", "git-remote"),
    ):
        controller = Controller(tmp_path, database, {"base": [root]})
        with pytest.raises(OperationError) as refused:
            run(controller.keeper.newest())
        assert refused.value.diagnostics[0].code == code
        controller.calls.close()


@pytest.mark.parametrize(
    "root",
    [
        "git+ext::sh -c touch% /tmp/x",
        "git+--upload-pack=touch /tmp/x",
        "git+ssh://-oProxyCommand=touch/x",
        "git+https://example.com/repo@--upload-pack=x",
        "git+https://example.com/repo@-x",
        "git+https://example.com/repo@a..b",
        "git+https://example.com/repo@a b",
        "git+https://example.com/re po",
        "git+fd://17/foo",
        "git+https://example.com/repo@main#subdirectory=../../etc",
        "git+/srv/repo",
    ],
)
def test_an_address_that_could_make_git_do_something_else_is_refused(root: str) -> None:
    with pytest.raises(OperationError) as refused:
        parse_remote(root)
    assert refused.value.diagnostics[0].code == "git-address"


def test_an_address_shows_no_password() -> None:
    assert "s3cret" not in parse_remote("git+https://ann:s3cret@example.com/repo@main").shown
