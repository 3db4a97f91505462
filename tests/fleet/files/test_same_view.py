"""A tree looks from an agent as it does where it lies: every question, of random trees."""

from __future__ import annotations

import asyncio
import os
import stat
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from tests.fleet.files import trees
from tests.fleet.files.test_publish import Site
from tests.fleet.harness import run

from saltern.fleet.files.agent import AgentFiles
from saltern.fleet.files.options import tree_options
from saltern.fleet.files.worker import answer_file
from saltern.language.diagnostics import CompileError, OperationError
from saltern.language.source import SlsRef
from saltern.sources.published_tree import PublishedTree
from saltern.sources.tree import Tree

LIMIT = 10 << 20


@asynccontextmanager
async def answering(files: AgentFiles, path: Path) -> AsyncIterator[None]:
    """The agent's socket."""

    async def on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer = await answer_file(files, msgspec.json.decode(await reader.readline()))
        writer.write(msgspec.json.encode(answer) + b"\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_unix_server(on, path):
        yield


def published(directory: str, socket: Path, wait: float = 20) -> PublishedTree:
    options = tree_options(directory, str(socket))
    return PublishedTree(options["file_roots"], directory, str(socket), max_size=LIMIT, wait=wait)  # type: ignore[arg-type]


def view(tree: Tree, envs: list[str]) -> dict[str, object]:
    """All that a tree can be asked, without where it lies."""
    seen: dict[str, object] = {"environments": tree.environments()}
    for env in envs:
        names = tree.names(env)
        asked = ("a/a", "deep/../a", "b.sls", "../x")
        paths = sorted({*names, *tree.directories(env), *tree.links(env), *asked})
        seen[env] = {
            "names": names,
            "directories": tree.directories(env),
            "links": tree.links(env),
            "sls": tree.sls_names(env),
            "found": {path: found(tree, path, env) for path in paths},
            "text": {path: text(tree, path, env) for path in paths},
            "read": {name: source(tree, name, env) for name in (*tree.sls_names(env), "a", "deep.a")},
        }
    return seen


def found(tree: Tree, path: str, env: str) -> object:
    place = tree.find(path, env)
    if place is None:
        return None
    return Path(place).read_bytes(), stat.S_IMODE(os.stat(place).st_mode)


def text(tree: Tree, path: str, env: str) -> object:
    try:
        got = tree.source(path, env)
        return got and got[1]
    except CompileError as problem:
        return kind_of(problem)


def source(tree: Tree, name: str, env: str) -> object:
    try:
        got = tree.read(SlsRef(env, name))
        return got and (got.name, got.text, got.is_init)
    except CompileError as problem:
        return kind_of(problem)


def kind_of(problem: CompileError) -> str | None:
    """A link that only leads to itself, by a way that an agent does not make, is not there for an agent."""
    return None if "symbolic links" in str(problem) else problem.diagnostics[0].code


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trees.layers, trees.items)
def test_every_question_has_the_same_answer(
    tmp_path: Path, base: list[list[trees.Item]], dev: list[trees.Item]
) -> None:
    place = tmp_path / uuid.uuid4().hex[:8]
    place.mkdir()
    home = place / "agents"
    home.mkdir()
    place = place / "roots"
    place.mkdir()
    out = trees.write_outside(place / "out")
    roots = {"base": [f"{place}/base{number}" for number in range(len(base))], "dev": [f"{place}/dev"]}
    for items, root in zip([*base, dev], [*roots["base"], *roots["dev"]], strict=True):
        trees.write(Path(root), items, out, place / "base0")

    async def scenario() -> None:
        site = Site(home)
        tree = await site.publish(roots)
        agent = site.agent()
        socket = home / "s"
        directory = await agent.ensure(tree.digest)
        async with answering(agent, socket):
            there = await asyncio.to_thread(view, published(directory, socket), ["base", "dev", "none"])
        await site.close()
        assert there == view(Tree(roots, max_size=LIMIT), ["base", "dev", "none"])

    run(scenario())


def test_a_file_that_cannot_be_fetched_fails_what_needs_it_with_the_reason(tmp_path: Path) -> None:
    root = tmp_path / "srv"
    root.mkdir()
    (root / "blob").write_bytes(b"x" * 1000)

    async def scenario() -> None:
        site = Site(tmp_path)
        tree = await site.publish({"base": [str(root)]})
        agent = site.agent()
        directory = await agent.ensure(tree.digest)
        here = published(directory, tmp_path / "s", wait=0.3)
        with pytest.raises(OperationError, match=r"agent at .* does not respond"):
            await asyncio.to_thread(here.find, "blob", "base")
        assert here.find("other", "base") is None
        site.hub.stop()
        here = published(directory, tmp_path / "s")
        async with answering(agent, tmp_path / "s"):
            with pytest.raises(OperationError, match=r"cannot be fetched: .* no connection"):
                await asyncio.to_thread(here.find, "blob", "base")
            site.hub.start()
            assert await asyncio.to_thread(here.find, "blob", "base")

    run(scenario())


def test_an_agent_that_starts_again_is_waited_for(tmp_path: Path) -> None:
    root = tmp_path / "srv"
    root.mkdir()
    (root / "blob").write_bytes(b"x" * 1000)

    async def scenario() -> None:
        site = Site(tmp_path)
        tree = await site.publish({"base": [str(root)]})
        directory = await site.agent().ensure(tree.digest, job="j1")
        here = published(directory, tmp_path / "s")
        asked = asyncio.create_task(asyncio.to_thread(here.find, "blob", "base"))
        again = site.agent()
        async with answering(again, tmp_path / "s"):
            assert await asked == f"{directory}/roots/base/blob"

    run(scenario())
