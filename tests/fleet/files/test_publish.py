"""From roots on a controller to a tree on an agent, over a bus."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.fleet.harness import run

from saltern.fleet.bus.memory import MemoryHub
from saltern.fleet.files.agent import AgentFiles
from saltern.fleet.files.cache import Cache
from saltern.fleet.files.manifest import Manifest, encode
from saltern.fleet.files.pieces import PIECE, digest_of
from saltern.fleet.files.problems import NotFetched
from saltern.fleet.files.publish import Publisher, Roots, Tree


class Site:
    """A controller with roots, and agents, on one memory bus."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.hub = MemoryHub()
        self.bus = self.hub.connect("c1")
        self.publisher = Publisher(self.bus, str(place / "stat"))
        self.older: list[Manifest] = []

    async def publish(self, roots: Roots) -> Tree:
        await self.publisher.blobs.make()
        tree, found = await self.publisher.publish(roots, self.recent)
        self.older += found.manifests.values()
        return tree

    async def recent(self, environment: str) -> list[tuple[str, Manifest]]:
        return [(digest_of(encode(one)), one) for one in self.older if one.environment == environment]

    async def close(self) -> None:
        for bus in list(self.hub.buses):
            await bus.close()

    def agent(self, name: str = "web1", **options: int) -> AgentFiles:
        cache = Cache(str(self.place / name), **options)
        return AgentFiles(cache, self.hub.connect(name), wait=0.3)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "srv"
    (root / "web" / "files").mkdir(parents=True)
    (root / "top.sls").write_text("base: {'*': [web]}\n")
    (root / "web" / "init.sls").write_text("x: test.nop\n")
    (root / "web" / "files" / "motd").write_text("hello\n")
    (root / "web" / "files" / "big").write_bytes(os.urandom(3 * PIECE + 17))
    return root


def test_state_files_are_there_at_once_and_the_rest_when_it_is_asked_for(tmp_path: Path, root: Path) -> None:
    async def scenario() -> None:
        site = Site(tmp_path)
        tree = await site.publish({"base": [str(root)]})
        agent = site.agent()
        place = Path(await agent.ensure(tree.digest)) / "roots" / "base"
        assert (place / "web/init.sls").read_text() == "x: test.nop\n"
        for name in ("motd", "big"):
            assert not (place / "web/files" / name).exists()
            await agent.fetch_path(tree.digest, f"base/web/files/{name}")
            assert (place / "web/files" / name).read_bytes() == (root / "web/files" / name).read_bytes()

    run(scenario())


def test_a_job_sees_the_tree_as_it_was_when_it_was_published(tmp_path: Path, root: Path) -> None:
    async def scenario() -> None:
        site = Site(tmp_path)
        first = await site.publish({"base": [str(root)]})
        (root / "web" / "init.sls").write_text("y: test.nop\n")
        second = await site.publish({"base": [str(root)]})
        agent = site.agent()
        old, new = [Path(await agent.ensure(one.digest)) for one in (first, second)]
        assert (old / "roots/base/web/init.sls").read_text() == "x: test.nop\n"
        assert (new / "roots/base/web/init.sls").read_text() == "y: test.nop\n"

    run(scenario())


def test_a_changed_file_moves_and_hardly_anything_else(tmp_path: Path, root: Path) -> None:
    for number in range(500):
        (root / f"state{number}.sls").write_text(f"s{number}: test.nop\n")

    async def scenario() -> None:
        site = Site(tmp_path)
        first = await site.publish({"base": [str(root)]})
        agent = site.agent()
        await agent.ensure(first.digest)
        changed = "z: test.nop\n" * 200
        (root / "state7.sls").write_text(changed)
        second = await site.publish({"base": [str(root)]})
        agent.fetcher.received = 0
        place = await agent.ensure(second.digest)
        assert len(changed) < agent.fetcher.received < 1.5 * len(changed)
        assert Path(place, "roots/base/state7.sls").read_text() == changed
        again = await site.publish({"base": [str(root)]})
        assert (again.digest, again.stored) == (second.digest, 0)

    run(scenario())


def test_what_the_broker_lost_is_published_again(tmp_path: Path, root: Path) -> None:
    async def scenario() -> None:
        site = Site(tmp_path)
        first = await site.publish({"base": [str(root)]})
        site.hub.stop(lose_disk=True)
        site.hub.start()
        assert (await site.publish({"base": [str(root)]})).stored == first.stored > 0
        agent = site.agent()
        assert Path(await agent.ensure(first.digest), "roots/base/top.sls").exists()
        await agent.fetch_path(first.digest, "base/web/files/big")

    run(scenario())


def test_a_file_is_not_fetched_twice_and_not_for_another_mode(tmp_path: Path, root: Path) -> None:
    (root / "script.sls").write_text("x: test.nop\n")
    (root / "script.sls").chmod(0o755)

    async def scenario() -> None:
        site = Site(tmp_path)
        tree = await site.publish({"base": [str(root)], "dev": [str(root)]})
        agent = site.agent()
        place = Path(await agent.ensure(tree.digest)) / "roots"
        sizes = sum(path.stat().st_size for path in (root / "top.sls", root / "web/init.sls"))
        manifests = sum(
            len(agent.cache.manifests.read(one) or b"") for one in agent.cache.manifests.digests()
        )
        assert agent.fetcher.received == sizes + manifests
        assert (place / "base/script.sls").stat().st_mode & 0o777 == 0o755
        assert (place / "dev/web/init.sls").stat().st_mode & 0o777 == 0o644

    run(scenario())


def test_without_a_broker_what_is_here_is_used_and_what_is_not_is_reported(
    tmp_path: Path, root: Path
) -> None:
    async def scenario() -> None:
        site = Site(tmp_path)
        tree = await site.publish({"base": [str(root)]})
        await site.agent().ensure(tree.digest)
        site.hub.stop()
        agent = site.agent()  # the same cache, a new process
        assert Path(await agent.ensure(tree.digest), "roots/base/top.sls").exists()
        with pytest.raises(NotFetched, match="no connection"):
            await agent.fetch_path(tree.digest, "base/web/files/big")
        with pytest.raises(NotFetched, match="no connection"):
            await agent.ensure("0" * 64)

    run(scenario())


def test_a_short_outage_is_waited_for(tmp_path: Path, root: Path) -> None:
    async def scenario() -> None:
        site = Site(tmp_path)
        tree = await site.publish({"base": [str(root)]})
        agent = AgentFiles(Cache(str(tmp_path / "web1")), site.hub.connect("web1"), wait=30)
        site.hub.stop()
        import asyncio

        task = asyncio.create_task(agent.ensure(tree.digest))
        await asyncio.sleep(0)
        site.hub.start()
        assert Path(await task, "roots/base/top.sls").exists()

    run(scenario())


def test_the_cache_stays_below_its_limit_and_keeps_what_a_job_needs(tmp_path: Path, root: Path) -> None:
    async def scenario() -> None:
        site = Site(tmp_path)
        agent = site.agent(limit=3 * 4096, keep_trees=1)
        digests = []
        for number in range(6):
            (root / "web" / "init.sls").write_text(f"# {number}\n" + "#" * 4000)
            tree = await site.publish({"base": [str(root)]})
            await agent.ensure(tree.digest, job="j1" if number == 1 else "")
            digests.append(tree.digest)
        kept = [one for one in digests if agent.cache.trees.has(one)]
        assert kept == [digests[1], digests[5]]
        text = Path(agent.cache.trees.path(digests[1]), "roots/base/web/init.sls").read_text()
        assert text.startswith("# 1\n")
        objects = [path for path in (tmp_path / "web1/objects").rglob("*") if path.is_file()]
        assert sum(path.stat().st_size for path in objects) <= 3 * 4096 + 200
        agent.release("j1")
        agent.cache.trim()
        assert [one for one in digests if agent.cache.trees.has(one)] == [digests[5]]

    run(scenario())


def test_what_jobs_of_an_earlier_agent_needed_is_released(tmp_path: Path, root: Path) -> None:
    async def scenario() -> None:
        site = Site(tmp_path)
        tree = await site.publish({"base": [str(root)]})
        for job in ("j1", "j2"):
            await site.agent().ensure(tree.digest, job=job)
        agent = site.agent()
        agent.release_others(["j2"])
        assert agent.cache.trees.pinned_trees() == {"j2": tree.digest}
        agent.release("j2")
        assert agent.cache.trees.pinned_trees() == {}

    run(scenario())


def test_a_pin_that_cannot_be_written_fails_the_job_with_the_reason(tmp_path: Path, root: Path) -> None:
    async def scenario() -> None:
        site = Site(tmp_path)
        tree = await site.publish({"base": [str(root)]})
        agent = site.agent()
        (tmp_path / "web1" / "pins" / "j1" / "full").mkdir(parents=True)
        with pytest.raises(NotFetched, match="cannot be written: Is a directory"):
            await agent.ensure(tree.digest, job="j1")

    run(scenario())


def test_the_cache_is_closed_to_others_and_holds_no_leavings(tmp_path: Path, root: Path) -> None:
    async def scenario() -> None:
        site = Site(tmp_path)
        tree = await site.publish({"base": [str(root)]})
        os.umask(0)
        try:
            agent = site.agent()
            await agent.ensure(tree.digest)
        finally:
            os.umask(0o022)
        for folder, folders, _ in os.walk(tmp_path / "web1"):
            for one in (folder, *(f"{folder}/{name}" for name in folders)):
                assert os.stat(one).st_mode & 0o777 == 0o700, one
        assert not os.listdir(tmp_path / "web1" / "new")

    run(scenario())


def test_content_that_was_damaged_on_disk_is_fetched_again(tmp_path: Path, root: Path) -> None:
    async def scenario() -> None:
        site = Site(tmp_path)
        tree = await site.publish({"base": [str(root)]})
        place = await site.agent().ensure(tree.digest)
        damaged = Path(place, "roots/base/web/init.sls")
        damaged.write_text("evil: test.nop\n")
        await site.agent().ensure(tree.digest)  # as after a restart
        assert Path(place, "roots/base/web/init.sls").read_text() == "x: test.nop\n"

    run(scenario())


def test_a_file_that_changes_while_it_is_published_is_published_as_it_is_then(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        site = Site(tmp_path)
        await site.publisher.blobs.make()
        found = await site.publisher.scan({"base": [str(root)]})
        (root / "web" / "init.sls").write_text("later: test.nop\n")
        original = site.publisher.scan
        answers = [found]

        async def scan(roots: Roots) -> object:
            return answers.pop() if answers else await original(roots)

        monkeypatch.setattr(site.publisher, "scan", scan)
        tree = await site.publish({"base": [str(root)]})
        place = await site.agent().ensure(tree.digest)
        assert Path(place, "roots/base/web/init.sls").read_text() == "later: test.nop\n"

    run(scenario())
