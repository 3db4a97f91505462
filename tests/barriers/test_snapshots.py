"""Transactional updates on a real btrfs: work in a new snapshot, and a reboot that activates it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.barriers.disk import FIRST, Disk, in_use, needs_btrfs
from tests.chains.machine import Bench
from tests.modules.bench import Bench as ModuleBench

from saltern.chains.statuses import Leg
from saltern.config.settings import Settings
from saltern.facts.grains import Grains
from saltern.modules.lib.boots import reboot_needed
from saltern.modules.states import system
from saltern.system import snapshots

UPDATE = "echo 2 > /etc/release"


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    monkeypatch.setattr(reboot_needed, "WITNESSES", (reboot_needed.waiting_snapshot,))
    with in_use(Disk(tmp_path)) as made:
        yield made


class Transactional(Bench):
    """A machine that boots the default subvolume of a disk."""

    def __init__(self, disk: Disk, *actions: str, base: Path | None = None) -> None:
        rows = "".join(f"  - {{{{{one}}}}}\n" for one in actions)
        super().__init__(base or disk.var, f"chain: c\nactions:\n{rows}")
        self.disk = disk

    def goes_down(self) -> bool:
        down = super().goes_down()
        if down:
            self.disk.boot()
        return down

    def statuses(self) -> dict[str, str]:
        known = self.leg()
        assert known is not None
        return {name: step.status.value for name, step in known.state.steps.items()}

    def comment(self, action: str) -> str:
        known = self.leg()
        assert known is not None
        return known.state.steps[action].comment


@needs_btrfs
def test_what_is_done_in_a_new_snapshot_is_there_after_the_reboot_and_not_before(disk: Disk) -> None:
    bench = Transactional(
        disk,
        f"id: update, transaction: '{UPDATE}'",
        "id: more, transaction: 'cp /etc/release /etc/copy'",
        "id: before, command: 'cat {base}/../root/etc/release >> {base}/log'",
        "id: reboot, reboot: {{when: needed}}",
        "id: after, command: 'cat {base}/../root/etc/copy >> {base}/log'",
    )
    known = bench.to_the_end()
    assert known.state.status is Leg.SUCCEEDED, bench.statuses()
    assert (disk.var / "log").read_text().split() == ["1", "2"], "the second builds on the first"
    assert bench.boots() == 2, "a snapshot that waits is a reason for a reboot"
    assert disk.seam.booted_snapshot() == disk.seam.next() != FIRST


@needs_btrfs
def test_24_a_transaction_that_changes_nothing_is_dropped_and_the_reboot_is_done(disk: Disk) -> None:
    bench = Transactional(disk, "id: look, transaction: 'cat /etc/release'", "id: reboot, reboot: {{}}")
    known = bench.to_the_end()
    assert known.state.status is Leg.SUCCEEDED
    assert (bench.boots(), disk.seam.booted_snapshot(), disk.snapshots()) == (2, FIRST, [FIRST])
    step = known.state.steps["look"]
    assert (step.changed, step.comment.splitlines()[0]) == (
        False, "The command has changed nothing, and its snapshot was dropped",
    )  # fmt: skip


@needs_btrfs
def test_21_a_machine_that_was_rolled_back_fails_the_reboot_and_what_comes_after_is_not_run(
    disk: Disk,
) -> None:
    bench = Transactional(
        disk,
        f"id: update, transaction: '{UPDATE}'",
        "id: reboot, reboot: {{}}",
        "id: after, command: 'touch {base}/after'",
    )
    bench.chain("run", str(bench.file))
    wanted = disk.seam.next()
    disk.choose(FIRST)  # by the boot loader, since the new one does not come up
    known = bench.to_the_end()
    assert known.state.status is Leg.FAILED
    assert bench.statuses() == {"update": "succeeded", "reboot": "failed", "after": "not run"}
    assert f"runs snapshot {FIRST} instead of {wanted}: it was rolled back" in bench.comment("reboot")
    assert not (disk.var / "after").exists()


@needs_btrfs
def test_a_command_that_fails_leaves_nothing_behind(disk: Disk) -> None:
    bench = Transactional(disk, f"id: update, transaction: '{UPDATE}; echo no room >&2; exit 3'")
    assert bench.chain("run", str(bench.file)).code == 2
    assert (disk.snapshots(), disk.release()) == ([FIRST], "1")
    assert "exit code 3; its snapshot was dropped, and nothing has changed\nno room" in bench.comment(
        "update"
    )


@needs_btrfs
@pytest.mark.parametrize("point", ["transaction.opened", "transaction.ran", "transaction.closed"])
def test_one_that_is_killed_is_begun_anew_or_is_done_and_never_done_twice(disk: Disk, point: str) -> None:
    bench = Transactional(
        disk, "id: update, transaction: 'echo 2 >> /etc/release'", "id: reboot, reboot: {{when: needed}}"
    )

    bench.chain("run", str(bench.file), watch=lambda name: os._exit(137) if name == point else None)
    known = bench.to_the_end()
    assert known.state.status is Leg.SUCCEEDED, bench.statuses()
    assert disk.release().split() == ["1", "2"]
    assert len(disk.snapshots()) == 2, "what was broken off is removed"


@needs_btrfs
def test_5_a_journal_inside_of_the_snapshot_is_refused(disk: Disk) -> None:
    actions = (f"id: update, transaction: '{UPDATE}'", "id: reboot, reboot: {{}}")
    bench = Transactional(disk, *actions, base=disk.root / "etc")
    said = bench.chain("run", str(bench.file))
    assert "is in the running snapshot: this chain is lost when another one is booted" in said.err
    assert "chain-in-snapshot" in said.err and bench.leg() is None
    assert disk.snapshots() == [FIRST], "nothing was begun"


@needs_btrfs
def test_a_machine_that_boots_no_snapshots_has_no_transactions(tmp_path: Path) -> None:
    snapshots.use(snapshots.Btrfs(str(tmp_path)))
    try:
        rows = "[{{command: 'touch {base}/before'}}, {{transaction: 'true'}}]"
        bench = Bench(tmp_path, f"chain: c\nactions: {rows}\n")
        said = bench.chain("run", str(bench.file))
        assert "chain-no-snapshots" in said.err and "is not a bootable snapshot" in said.err
        assert bench.leg() is None and not (tmp_path / "before").exists(), "nothing was begun"
        alone = ModuleBench(tmp_path, system).refusal("transaction", "true")
        assert alone == "the root of this machine is not a bootable snapshot"
        assert Grains(Settings())["boot_snapshots"] == ""
    finally:
        snapshots.use(None)


@needs_btrfs
def test_a_machine_says_of_itself_what_makes_its_snapshots(disk: Disk) -> None:
    assert Grains(Settings())["boot_snapshots"] == "btrfs"
    snapshots.use(snapshots.Tukit(str(disk.root)))
    assert Grains(Settings())["boot_snapshots"] == "tukit"


TUKIT = """#!{python}
# A stand-in for tukit with its words, made of btrfs: what tukit itself does beside that is not tried here.
import subprocess, sys
sys.path[:0] = {path!r}
from saltern.system.snapshots import Btrfs
seam, words = Btrfs({root!r}), sys.argv[1:]
verb = next(one for one in words if one in ("open", "call", "close", "abort"))
if verb == "open":
    assert words[0].startswith("-c"), words
    seam.open("7")
    print("ID: 7")
elif verb == "call":
    sys.exit(subprocess.run(seam.inside(".snapshots/7/snapshot", words[2:])).returncode)
else:
    getattr(seam, {{"close": "close", "abort": "drop"}}[verb])(f".snapshots/{{words[1]}}/snapshot")
"""


def put_tukit(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = disk.var / "bin/tukit"
    tool.parent.mkdir()
    path = [str(Path(snapshots.__file__).parents[2]), *(one for one in sys.path if "site-packages" in one)]
    tool.write_text(TUKIT.format(python=sys.executable, path=path, root=str(disk.root)))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    snapshots.use(snapshots.Tukit(str(disk.root)))


@needs_btrfs
def test_tukit_is_asked_where_there_is_one(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    put_tukit(disk, monkeypatch)
    bench = Transactional(
        disk,
        "id: fails, transaction: 'touch /etc/x; false', on_failure: continue",
        f"id: update, transaction: '{UPDATE}'",
        "id: reboot, reboot: {{when: needed}}",
    )
    bench.to_the_end()
    assert bench.statuses() == {"fails": "failed", "update": "succeeded", "reboot": "succeeded"}, (
        bench.comment("fails")
    )
    assert (disk.release(), disk.seam.booted_snapshot()) == ("2", ".snapshots/7/snapshot")
