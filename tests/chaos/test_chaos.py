"""Every reader of files gets damaged ones: no traceback, no hang, no memory without bounds, no wrong word.

``make chaos`` does it for ten minutes each. ``CHAOS_SECONDS`` says how long, ``CHAOS_SEED`` from
which number. A failure names the seed and the round, and keeps what was read.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from tests.chaos.mutate import damaged
from tests.e2e.command import Done, Place, is_told_well

SECONDS = float(os.environ.get("CHAOS_SECONDS", "6"))
SEED = int(os.environ.get("CHAOS_SEED") or int.from_bytes(os.urandom(4)))
pytestmark = pytest.mark.timeout(SECONDS * 2 + 600)

SLS = """\
{% set name = pillar.get('name', 'web') %}
include: [other]

first:
  test.succeed_with_changes: [{order: 3}]

{{ name }}:
  test.nop:
    - names: [a, b: [{c: 1}]]
    - require: [{test: first}]
    - onlyif: 'true'
"""
CONFIG = "test: true\nstate_verbose: false\nnodegroups: {a: 'L@b,c'}\njinja_env: {a: true}\nstrict: true\n"
CHAIN = """\
chain: c
id: c1
actions:
  - {id: a, command: {run: 'true'}, on_failure: continue}
  - {id: r, reboot: {notice: 5}}
  - {id: f, file: {path: /nowhere/x, contents: hello}}
"""
EXTRACTED = "@/out:\n  archive.extracted: [{source: @/%s}, {skip_verify: true}, {enforce_toplevel: false}]\n"
BROKEN = """\
first:
  cmd.run: [{name: echo first >> @/log}]
second:
  cmd.run:
    - name: echo second >> @/log; touch @/on; until test -e @/gate; do sleep 0.02; done
    - require: [{cmd: first}]
third:
  cmd.run: [{name: echo third >> @/log}, {require: [{cmd: second}]}]
"""
WHOLE = ["first", "second", "third"]


def rounds(place: Place, work: Callable[[Random], Done | None]) -> None:
    """Round after round until the time is over. A round has a seed of its own."""
    end, number = time.monotonic() + SECONDS, 0
    only = os.environ.get("CHAOS_ROUND")
    while time.monotonic() < end or not number:
        number = int(only) if only else number + 1
        try:
            done = work(Random(f"{SEED} {number}"))
            if done is not None:
                is_told_well(done)
        except BaseException:
            kept = f"{place.base}-{number}"
            shutil.copytree(place.base, kept, symlinks=True, dirs_exist_ok=True)
            print(f"CHAOS_SEED={SEED} CHAOS_ROUND={number} does it again; what was read is in {kept}")
            raise
        if only:
            return


def archive_tar() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in ("a/b", "a/c", "d"):
            entry = tarfile.TarInfo(name)
            entry.size = 5
            tar.addfile(entry, io.BytesIO(b"hello"))
        link = tarfile.TarInfo("a/link")
        link.type, link.linkname = tarfile.SYMTYPE, "b"
        tar.addfile(link)
    return made.getvalue()


def archive_zip() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in ("a/b", "a/c", "d"):
            packed.writestr(name, "hello" * 50)
    return made.getvalue()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "it").mkdir()
    return Place(tmp_path / "it").write({"other.sls": "o:\n  test.nop: []\n", "main.sls": SLS})


def test_state_files(place: Place) -> None:
    def work(chance: Random) -> Done:
        place.write({"main.sls": damaged(SLS.encode(), chance)})
        return place.run("show", "low-sls", "main")

    rounds(place, work)


def test_configurations(place: Place) -> None:
    def work(chance: Random) -> Done:
        place.write({"etc/saltern.yaml": damaged(CONFIG.encode(), chance)})
        return place.run("show", "low-sls", "main")

    rounds(place, work)


def test_plans(place: Place) -> None:
    file = place.base / "kept.plan"
    assert place.run("plan", "main", "-o", str(file)).code == 0
    good = file.read_bytes()

    def work(chance: Random) -> Done:
        file.write_bytes(damaged(good, chance))
        return place.run("apply", str(file), "--no-journal")

    rounds(place, work)


def test_chains(place: Place) -> None:
    file = place.base / "chain.yaml"

    def work(chance: Random) -> Done:
        file.write_bytes(damaged(CHAIN.encode(), chance))
        return place.run("chain", "check", str(file))

    rounds(place, work)


@pytest.mark.parametrize(("name", "make"), [("x.tar", archive_tar), ("x.zip", archive_zip)])
def test_archives(place: Place, name: str, make: Callable[[], bytes]) -> None:
    """Nothing is written outside of where it belongs, either."""
    place.write({"main.sls": (EXTRACTED % name).replace("@", str(place.base))})
    good = make()
    around = {"states", "runs", "cache", "out", name, "_out", "_err"}

    def work(chance: Random) -> Done:
        shutil.rmtree(place.base / "out", ignore_errors=True)
        (place.base / name).write_bytes(damaged(good, chance))
        done = place.run("apply", "main", "--no-journal")
        assert set(os.listdir(place.base)) <= around
        assert os.listdir(place.base.parent) == ["it"]
        return done

    rounds(place, work)


@pytest.fixture
def broken(place: Place) -> Iterator[Place]:
    """A run that was killed in its second command, which has ended since."""
    place.write({"main.sls": BROKEN.replace("@", str(place.base))})
    process = place.start("apply", "main")
    while not (place.base / "on").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (place.base / "gate").touch()
    from saltern.system import ledger

    while any(ledger.at_work(str(one)) for one in (place.base / "runs").rglob("*.kept")):
        time.sleep(0.02)
    yield place


def test_files_of_a_broken_run(broken: Place) -> None:
    """No command runs a second time, and a resume that says that all is well has done all."""
    place, runs, kept = broken, broken.base / "runs", broken.base.parent / "kept"
    shutil.copytree(runs, kept)
    files = sorted(str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file())
    log = place.base / "log"

    def work(chance: Random) -> Done:
        shutil.rmtree(runs)
        shutil.copytree(kept, runs)
        log.write_text("first\nsecond\n")
        file = runs / chance.choice(files)
        if chance.random() < 0.1:
            file.unlink()
        else:
            file.write_bytes(damaged(file.read_bytes(), chance))
        is_told_well(place.run("runs"))
        done = place.run("resume")
        ran = log.read_text().split()
        assert ran in (WHOLE[:2], WHOLE), f"{file.name}: {ran}\n{done.out}{done.err}"
        assert done.code or ran == WHOLE, f"{file.name}: a success that is none\n{done.out}{done.err}"
        return done

    rounds(place, work)
