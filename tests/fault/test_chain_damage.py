"""A file of a broken leg of a chain, or of its run, is damaged: nothing runs twice, and it is reported."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.chains.machine import AT_MOST, DEAD, MEMORY, Bench, Watch
from tests.e2e.command import Done, is_told_well
from tests.fault.damage import ALL, damages, files_of
from tests.fault.machine import only_here

from saltern.chains.statuses import OVER
from saltern.journal.runs import Runs
from saltern.system import ledger

CHAIN = """\
chain: whole
actions:
  - {{id: a, command: {{run: 'echo a >> {base}/log'}}}}
  - {{id: b, file: {{path: '{base}/b', contents: hello}}}}
  - {{id: r, reboot: {{}}}}
  - {{id: c, command: {{run: 'echo c >> {base}/log'}}}}
  - {{id: d, command: {{run: 'echo d >> {base}/log'}}}}
finally:
  - {{id: e, command: {{run: 'echo e >> {base}/log'}}}}
"""
EVERY = {"a", "c", "d", "e"}
TOKEN = ("--token", "once")
# Killed there, for the so manieth time, in the boot of this number.
MOMENTS = [
    (1, "chain.chunk.synced", 1),
    (1, "keeper.answered", 1),
    (2, "chain.results", 1),
    (2, "chain.finished", 1),
]
MORE = [(1, "chain.chunk", 1), (1, "chain.left", 1), (2, "keeper.asked", 1), (2, "chain.results.synced", 1)]
SOME = 6
Case = tuple[Path, str, Callable[[Path], None]]


class Broken(Bench):
    """A leg that was killed at a moment; ``older`` has its files as they were a record earlier."""

    def __init__(self, base: Path, boot: int, moment: str, times: int) -> None:
        super().__init__(base, CHAIN)
        self.state = base / "runs"
        if boot > 1:
            assert self.chain("run", str(self.file), *TOKEN).code in (6, DEAD)
            assert self.goes_down()
        words = ("run", str(self.file), *TOKEN) if boot == 1 else ("resume",)
        assert self.chain(*words, watch=self.dies(moment, times)).code == DEAD
        self.quiet()
        self.kept = {
            path: base / f"{path.name}-then"
            for path in (self.state, base / "log", base / "b", base / "asked")
        }
        for path, then in self.kept.items():
            _copy(path, then)
        self.boot = self.boots()

    def dies(self, moment: str, times: int) -> Watch:
        left = [times]

        def watch(name: str) -> None:
            if name.startswith("chain.") and name.endswith(".synced") and left[0] == 1:
                shutil.copytree(self.state, self.base / "older", dirs_exist_ok=True)
            if name == moment:
                left[0] -= 1
                if not left[0]:
                    os._exit(DEAD)

        return only_here(watch)

    def quiet(self) -> None:
        runs = Runs(self.settings)
        while runs.lock.holder() is not None or any(
            ledger.at_work(str(one)) for one in (self.state / "runs").glob("*.kept")
        ):
            time.sleep(0.01)

    def back(self) -> None:
        for path, then in self.kept.items():
            _copy(then, path)
        (self.base / "boot").write_text(str(self.boot))

    def counts(self) -> Counter[str]:
        return Counter(self.log())

    def ends(self) -> Done:
        """Resume, with its reboots, until it is over or refused."""
        for _ in range(AT_MOST):
            self.goes_down()
            done = self.chain("resume", "--out", "json")
            known = self.leg()
            if done.code == 1 or known is None or known.state.status in OVER:
                return done
        raise AssertionError(f"the leg does not end: {done.code} {done.err}")


def _copy(source: Path, place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    if source.is_dir():
        shutil.copytree(source, place)
    elif source.exists():
        shutil.copyfile(source, place)


@contextmanager
def broken(boot: int, moment: str, times: int) -> Iterator[Broken]:
    folder = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="saltern-fault-", dir=folder, ignore_cleanup_errors=True) as base:
        yield Broken(Path(base), boot, moment, times)


def once(one: Broken, what: str) -> None:
    assert all(count == 1 for count in one.counts().values()), f"{what}: run twice: {one.counts()}"


def judge(one: Broken, what: str) -> None:
    """It is listed; it ends with every command run once, or it is said what is not known."""
    looked = one.chain("status")
    is_told_well(looked)
    assert "no chain has been run" not in looked.out, f"{what}: silent"
    done = one.ends()
    is_told_well(done)
    once(one, what)
    assert "nothing to resume" not in done.err, f"{what}: silent"
    if done.code == 1:
        assert "damaged" in done.err or "cannot be read" in done.err, f"{what}: {done.err}"
        assert "damaged" in one.chain("status").out, f"{what}: not listed"
    else:
        assert done.code in (0, 2), f"{what}: {done.code} {done.err}"
        doubt = [name for name, status in one.statuses().items() if status == "indeterminate"]
        assert set(one.counts()) == EVERY or doubt, f"{what}: {one.counts()}, and {one.statuses()}"
    again = one.chain("run", str(one.file), *TOKEN)
    is_told_well(again)
    once(one, f"{what}: asked for again")


@pytest.mark.timeout(3600 if ALL else 300)
@pytest.mark.parametrize(("boot", "moment", "times"), MOMENTS + MORE * ALL)
def test_no_damage_of_a_leg_runs_a_command_twice_or_goes_unseen(boot: int, moment: str, times: int) -> None:
    chance = random.Random(f"{boot} {moment} {os.environ.get('SALTERN_FAULT_SEED', '')}")
    with broken(boot, moment, times) as one:
        then = one.kept[one.state]
        assert {path.suffix for path in files_of(then)} >= {".leg", ".mark"}
        cases = [
            (path, name, spoil)
            for path in files_of(then)
            for name, spoil in damages(then / path, one.base / "older" / path, chance)
        ]
        for path, name, spoil in cases if ALL else _some(cases, chance):
            one.back()
            spoil(one.state / path)
            judge(one, f"{boot}, {moment}: {path}: {name}")


def _some(cases: list[Case], chance: random.Random) -> list[Case]:
    """The journal of the leg is always tried; of the files of its runs, which have their own tests, some."""
    leg = [case for case in cases if ".leg" in case[0].name]
    rest = [case for case in cases if ".leg" not in case[0].name]
    return leg + chance.sample(rest, min(SOME, len(rest)))


def test_an_order_that_is_damaged_is_still_an_order() -> None:
    """Whatever is left of the reason: that there is a file is the order."""
    chance = random.Random("orders")
    with broken(1, "keeper.answered", 1) as one:
        known = one.leg()
        assert known is not None
        order = one.state / "chains" / f"{known.id}.cancel"
        whole = one.base / "order"
        whole.write_text("enough for today")
        for name, spoil in [*damages(whole, None, chance)][1:]:  # all but gone
            one.back()
            shutil.copyfile(whole, order)
            spoil(order)
            done = one.ends()
            is_told_well(done)
            once(one, name)
            found = one.leg()
            assert found is not None
            assert found.state.status.value == "cancelled", name
