"""What a broker in the wrong hands can answer an agent: it is refused, and nothing of it is used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.fleet.files.test_publish import Site
from tests.fleet.harness import run

from saltern.fleet.files.manifest import Entry, Manifest, encode, make_index
from saltern.fleet.files.pieces import PIECE, STREAM, change_name, digest_of, list_name, write_list
from saltern.fleet.files.problems import NotFetched
from saltern.fleet.files.worker import answer_file
from saltern.fleet.protocol.subjects import SUBJECTS


class Hostile(Site):
    """A site whose broker keeps what it likes under any name."""

    async def keep(self, name: str, data: bytes) -> None:
        await self.bus.store(SUBJECTS["blob"].of(digest=name), data)

    async def plant(self, manifest: Manifest) -> str:
        """A manifest with its true digest: what a controller in the wrong hands could publish."""
        await self.publisher.blobs.make()
        data = encode(manifest)
        await self.keep(digest_of(data), data)
        index = encode(make_index({manifest.environment: digest_of(data)}))
        await self.keep(digest_of(index), index)
        return digest_of(index)


def planted(tmp_path: Path, *entries: Entry) -> str:
    """What an agent says to a tree of these entries; it must have written nothing outside of its cache."""

    async def scenario() -> str:
        site = Hostile(tmp_path)
        tree = await site.plant(Manifest(environment="base", layers=[list(entries)]))
        with pytest.raises(NotFetched) as refused:
            await site.agent().ensure(tree)
        assert not os.listdir(tmp_path / "web1" / "trees")
        return str(refused.value)

    return run(scenario())


def test_paths_that_lead_out_are_refused(tmp_path: Path) -> None:
    why = planted(tmp_path, Entry("..", "d"), Entry("../../escaped.sls", "f", 0o644, 1, "ab" * 32))
    assert "refused" in why and "not plain" in why
    assert not (tmp_path / "escaped.sls").exists()


def test_absolute_paths_are_refused(tmp_path: Path) -> None:
    assert "absolute" in planted(tmp_path, Entry(f"{tmp_path}/x.sls", "f", 0o644, 1, "ab" * 32))


def test_a_file_below_a_link_is_refused(tmp_path: Path) -> None:
    why = planted(tmp_path, Entry("a", "l", link=str(tmp_path)), Entry("a/x.sls", "f", 0o644, 1, "ab" * 32))
    assert "not in a directory" in why


def test_links_that_lead_out_are_never_made(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    texts = (str(secret), "../" * 12 + str(secret).lstrip("/"), "a/../../secret", "/", "..")

    async def scenario() -> None:
        site = Hostile(tmp_path)
        entries = [Entry(f"l{number}", "l", link=text) for number, text in enumerate(texts)]
        place = await site.agent().ensure(await site.plant(Manifest(environment="base", layers=[entries])))
        assert os.listdir(f"{place}/roots/base") == []

    run(scenario())


def test_a_wrong_answer_for_every_kind_of_blob_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "srv"
    root.mkdir()
    (root / "top.sls").write_text("{}\n")
    (root / "big.sls").write_bytes(os.urandom(2 * PIECE))

    async def scenario() -> None:
        site = Hostile(tmp_path)
        tree = await site.publish({"base": [str(root)]})
        names = {tree.digest, *tree.manifests.values()}
        names |= {entry.digest for entry in site.older[0].entries() if entry.size < PIECE}
        big = next(entry for entry in site.older[0].entries() if entry.size > PIECE)
        for name in (*names, list_name(big.digest)):
            subject = SUBJECTS["blob"].of(digest=name)
            kept = await site.bus.last(STREAM, subject)
            assert kept is not None
            for wrong in (b"", b"{}", kept.data + b" ", kept.data[:-1], os.urandom(PIECE + 1)):
                await site.keep(name, wrong)
                with pytest.raises(NotFetched):
                    await site.agent(f"a{name[:8]}{len(wrong)}").ensure(tree.digest)
            await site.keep(name, kept.data)
        await site.agent("good").ensure(tree.digest)

    run(scenario())


def test_pieces_that_are_right_each_but_make_up_another_content_are_refused(tmp_path: Path) -> None:
    root = tmp_path / "srv"
    root.mkdir()
    (root / "big.sls").write_bytes(b"a" * PIECE + b"b" * PIECE)

    async def scenario() -> None:
        site = Hostile(tmp_path)
        tree = await site.publish({"base": [str(root)]})
        big = next(iter(site.older[0].entries()))
        swapped = [digest_of(b"b" * PIECE), digest_of(b"a" * PIECE)]
        await site.keep(list_name(big.digest), write_list(2 * PIECE, swapped))
        with pytest.raises(NotFetched, match="another content"):
            await site.agent().ensure(tree.digest)
        await site.keep(list_name(big.digest), (1 << 60).to_bytes(8) + bytes(32) * 16_000)
        with pytest.raises(NotFetched, match="damaged"):
            await site.agent().ensure(tree.digest)
        assert not os.listdir(tmp_path / "web1" / "new")

    run(scenario())


def test_a_wrong_change_of_a_manifest_is_passed_over(tmp_path: Path) -> None:
    root = tmp_path / "srv"
    root.mkdir()
    for number in range(20):
        (root / f"{number}.sls").write_text(f"# {number}\n")

    async def scenario() -> None:
        site = Hostile(tmp_path)
        first = await site.publish({"base": [str(root)]})
        agent = site.agent()
        await agent.ensure(first.digest)
        (root / "3.sls").write_text("new: test.nop\n")
        second = await site.publish({"base": [str(root)]})
        evil = {"layers": 1, "set": [[0, ["3.sls", "f", 420, 4, "cd" * 32, ""]]], "removed": []}
        import msgspec

        name = change_name(first.manifests["base"], second.manifests["base"])
        for data in (msgspec.json.encode(evil), b"garbage", b"[" * 5000):
            await site.keep(name, data)
        place = await agent.ensure(second.digest)
        assert Path(place, "roots/base/3.sls").read_text() == "new: test.nop\n"

    run(scenario())


def test_only_files_of_the_tree_can_be_asked_for(tmp_path: Path) -> None:
    root = tmp_path / "srv"
    (root / "d").mkdir(parents=True)
    (root / "d" / "f").write_text("x")

    async def scenario() -> None:
        site = Hostile(tmp_path)
        tree = await site.publish({"base": [str(root)]})
        agent = site.agent()
        await agent.ensure(tree.digest)
        for path in ("base/../../x", "/etc/passwd", "base/d", "base", "", "dev/d/f", "base/d/../d/f"):
            with pytest.raises(NotFetched, match="no file"):
                await agent.fetch_path(tree.digest, path)

    run(scenario())


def test_a_worker_that_asks_for_a_file_of_a_refused_tree_gets_the_reason(tmp_path: Path) -> None:
    async def scenario() -> None:
        site = Hostile(tmp_path)
        tree = await site.plant(
            Manifest(environment="base", layers=[[Entry("/x", "f", 0o644, 1, "ab" * 32)]])
        )
        for asked in (tree, "no digest", ""):
            answer = await answer_file(site.agent(), {"tree": asked, "path": "base/x"})
            assert answer["problem"], asked

    run(scenario())
