"""A file of a broken run is damaged: no command runs a second time, and what is not known is reported."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.e2e.command import Done, is_told_well
from tests.fault.damage import ALL, damages, files_of, replacements
from tests.fault.machine import DEAD, Machine, machine

FILES = {
    "main.sls": """
{% for n in range(4) %}
count-{{ n }}:
  cmd.run: [{name: echo {{ n }} >> {{ pillar['at'] }}/log}]
made-{{ n }}:
  file.managed: [{name: {{ pillar['at'] }}/made-{{ n }}, contents: made}]
{% endfor %}
beside:
  cmd.run: [{name: echo beside >> {{ pillar['at'] }}/log}, {parallel: true}]
"""
}
EVERY = {"0", "1", "2", "3", "beside"}
# Killed there, for the so manieth time: before a command is asked for, while the keeper has it, after it has
# ended, after its answer is written, at the end.
MOMENTS = [("keeper.ask", 3), ("keeper.asked", 3), ("keeper.answered", 3), ("journal.saved", 3), ("end", 1)]


@contextmanager
def broken(moment: str, times: int) -> Iterator[Machine]:
    """A run that was killed at a moment; ``older`` has its files as they were one command earlier."""
    with machine(FILES) as one:
        left = [times]

        def dies(name: str) -> None:
            if name == moment:
                left[0] -= 1
                if left[0] == 1:
                    shutil.copytree(one.base / "runs", one.base / "older")
                if not left[0]:
                    if moment == "keeper.asked":
                        _until_begun(one)
                    os._exit(DEAD)

        assert one.apply(dies).code == DEAD
        one.quiet()
        shutil.copytree(one.base / "runs", one.base / "runs-then")
        shutil.copytree(one.at, one.base / "at-then")
        yield one


def _until_begun(one: Machine) -> None:
    end = time.monotonic() + 10
    while one.log()["2"] == 0 and time.monotonic() < end:
        time.sleep(0.01)


def back(one: Machine) -> None:
    for place, then in ((one.base / "runs", "runs-then"), (one.at, "at-then")):
        shutil.rmtree(place)
        shutil.copytree(one.base / then, place)


def judge(one: Machine, done: Done, what: str) -> None:
    """Nothing ran twice; and either all was done, or it is reported what is not known."""
    is_told_well(done)
    log = one.log()
    assert all(count == 1 for count in log.values()), f"{what}: run twice: {log}"
    assert "nothing to resume" not in done.err, f"{what}: silent"
    statuses = {run.status for run in one.summaries()}
    assert "unbegun" not in statuses, what
    if done.code == 1:
        assert "damaged" in done.err or "cannot be read" in done.err, f"{what}: {done.err}"
        assert statuses & {"damaged", "unreadable"}, f"{what}: {statuses}"
        return
    assert done.code in (0, 2), f"{what}: {done.code} {done.err}"
    unsure = [answer for answer in done.answers().values() if answer.get("indeterminate")]
    assert set(log) == EVERY or unsure, f"{what}: {log}, and nothing is said of it"


@pytest.mark.timeout(3600 if ALL else 300)
@pytest.mark.parametrize(("moment", "times"), MOMENTS)
def test_no_damage_runs_a_command_twice_or_goes_unseen(moment: str, times: int) -> None:
    chance = random.Random(f"{moment} {os.environ.get('SALTERN_FAULT_SEED', '')}")
    tried = 0
    with broken(moment, times) as one:
        then = one.base / "runs-then"
        assert {path.name[-5:] for path in files_of(then)} >= {".mark", "lock"}
        for path in files_of(then):
            for name, spoil in list(damages(then / path, one.base / "older" / path, chance)):
                back(one)
                spoil(one.base / "runs" / path)
                what = f"{moment}: {path}: {name}"
                done = one.resume()
                judge(one, done, what)
                if done.code == 1 and (ALL or chance.random() < 0.2):
                    again = one.resume()
                    assert again.code == 1, f"{what}: silent when it is asked again"
                    assert all(count == 1 for count in one.log().values()), f"{what}: run twice, later"
                tried += 1
    assert tried > 40


@pytest.mark.timeout(3600 if ALL else 300)
def test_what_is_no_file_any_more_is_reported_and_nothing_is_run_twice() -> None:
    with broken("keeper.asked", 3) as one:
        then = one.base / "runs-then"
        for path in files_of(then):
            for name, spoil in replacements():
                back(one)
                spoil(one.base / "runs" / path)
                what = f"{path}: {name}"
                for words in (["runs"], ["resume", "--out", "json"]):
                    done = one.place.run(*words)
                    is_told_well(done)
                    assert all(count == 1 for count in one.log().values()), f"{what}: run twice"
                if set(one.log()) != EVERY:
                    assert done.code != 0 or "indeterminate" in done.out, f"{what}: silent: {done.out}"


def test_looking_at_a_damaged_run_changes_nothing(tmp_path: Path) -> None:
    with broken("keeper.ask", 3) as one:
        os.truncate(one.journal(), os.path.getsize(one.journal()) // 2)
        before = {path: (one.runs / path).stat().st_size for path in files_of(one.runs)}
        for words in (("runs",), ("show", "run"), ("report", "--html", "-o", str(tmp_path / "page.html"))):
            done = one.place.run(*words)
            is_told_well(done)
            assert "damaged" in done.out + done.err, words
        assert {path: (one.runs / path).stat().st_size for path in files_of(one.runs)} == before


def test_a_loss_of_power_is_no_damage() -> None:
    """The last state was saved and not synced: its record is gone, and so is the boot."""
    loose = "".join(
        f"f{n}:\n  file.managed: [{{name: {{{{ pillar['at'] }}}}/f{n}, contents: x}}]\n" for n in range(8)
    )
    with machine({"main.sls": loose}) as one:
        sizes = one.base / "sizes"

        def dies(name: str) -> None:
            if name == "journal.saved":
                with open(sizes, "a") as out:
                    log = next(one.runs.glob("*.run"))
                    out.write(f"{log.stat().st_size}\n")
                if sizes.read_text().count("\n") == 5:
                    os._exit(DEAD)

        assert one.apply(dies).code == DEAD
        log = next(one.runs.glob("*.run"))
        cut = int(sizes.read_text().split()[2])  # the mark says that the fourth was written
        assert cut < log.stat().st_size
        os.truncate(log, cut)
        same = shutil.copytree(one.base / "runs", one.base / "same")
        one.boots.number += 1
        assert one.resume().code == 0
        shutil.rmtree(one.base / "runs")
        shutil.copytree(same, one.base / "runs")
        one.boots.number -= 1  # nothing took the power away: then something else took the record
        done = one.resume()
        assert done.code == 1
        assert "damaged" in done.err


@pytest.mark.parametrize(
    "text", [b'{"pid":\xb0}', b'{"jid":"\xff"}', b'{"\xb2id":1}', b"\xff" * 40, b"[", b"{}"]
)
def test_a_damaged_signature_in_the_lock_is_no_crash(text: bytes) -> None:
    with broken("keeper.ask", 3) as one:
        (one.base / "runs" / "lock").write_bytes(text)
        is_told_well(one.place.run("runs"))
        done = one.resume()
        judge(one, done, str(text))
        assert done.code == 0
