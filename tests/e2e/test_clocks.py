"""Whatever the clock says: every command works, newer runs are newer, and nothing takes less than no time.

The clock of a real process is set by libfaketime; one that jumps is a file that it reads again and again.
"""

from __future__ import annotations

import os
import re
import signal
import time
from glob import glob
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.e2e.command import Done, Place

from saltern.system import clock, ledger
from saltern.system.clock import EARLIEST, LATEST, clamp_moment, stamp
from saltern.system.keeper import KEPT
from saltern.system.run_numbers import run_number

LIBRARY = next(iter(glob("/usr/lib/*/faketime/libfaketime.so.1")), "")
needs_library = pytest.mark.skipif(not LIBRARY, reason="libfaketime is not installed")
YEARS = ["9999-12-31 23:59:59", "2262-04-12 00:00:00", "1970-01-01 00:00:00", "1965-06-01 00:00:00"]
STATES = """\
{at}/made:
  file.managed: [{{contents: x}}, {{backup: minion}}]
said:
  cmd.run: [{{name: echo hi}}]
"""
COMMANDS = [
    *("apply main", "apply main --out json -l debug", "apply main --test", "runs", "runs --out json"),
    *("show run", "show run --out json", "show run --out junit", "plan main -o kept.plan", "apply kept.plan"),
    *("drift main", "drift main --out json", "report --html -o page.html", "graph --run last --format svg"),
    *("apply --failed-from last", "resume", "call status.time", "call system.get_system_date"),
]


def at(when: str) -> dict[str, str]:
    """The environment of a process whose clock begins so."""
    return {"LD_PRELOAD": LIBRARY, "FAKETIME": f"@{when}", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def is_sane(done: Done) -> None:
    assert done.code in (0, 1, 2, 4), done.err
    assert "Traceback" not in done.out + done.err
    assert not re.search(r"-\d[\d.]* (?:ms|s)\b|\"(?:took|duration)\": ?-", done.out), done.out


@needs_library
@pytest.mark.parametrize("when", YEARS)
def test_every_command_works_in_every_year(place: Place, when: str) -> None:
    place.write({"main.sls": STATES.format(at=place.base)})
    for words in COMMANDS:
        is_sane(place.real(*words.split(), env=at(when)))
    assert place.real("apply", "main", env=at(when)).code == 0


KEYS = """\
{at}/k.pem:
  x509.private_key_managed: []
{at}/ca.crt:
  x509.certificate_managed:
    [{{signing_private_key: {at}/k.pem}}, {{CN: x}}, {{days_valid: 30}}, {{basicConstraints: 'CA:true'}}]
{at}/crl.pem:
  x509.crl_managed:
    [{{signing_private_key: {at}/k.pem}}, {{signing_cert: {at}/ca.crt}}, {{days_valid: 10}}, {{revoked: []}}]
{at}/req.csr:
  x509.csr_managed: [{{private_key: {at}/k.pem}}, {{CN: z}}]
"""
JOBS = """\
a:
  schedule.present: [{function: test.ping}, {cron: '*/5 * * * *'}]
b:
  schedule.present: [{function: test.ping}, {once: '2038-01-19T03:14:08'}]
c:
  schedule.present: [{function: test.ping}, {range: {start: 8:00am, end: 5:00pm}}, {seconds: 5}]
"""
CHAIN = "chain: c\nid: {0}\nactions:\n  - id: a\n    command: {{run: echo {0} >> log; exit {0}}}\n"
ODD = ["0001-01-01 00:00:00", "1970-01-01 00:00:00", "2038-01-19 03:14:08", YEARS[0]]


@needs_library
@pytest.mark.parametrize("when", ODD)
def test_certificates_and_schedules_are_made_once_in_every_year(place: Place, when: str) -> None:
    place.write({"main.sls": KEYS.format(at=place.base), "jobs.sls": JOBS})
    (place.base / "saltern.yaml").write_text("{}\n")  # schedules are kept beside it, and not below /etc
    own = {"SALTERN_CONFIG": f"{place.base}/saltern.yaml"}
    done = place.real("apply", "main", "jobs", "--check-idempotent", env={**at(when), **own})
    assert done.code == 0, done.out
    for words in (f"x509.expires {place.base}/ca.crt days=9999999999", f"x509.read_crl {place.base}/crl.pem"):
        assert place.real("call", *words.split(), env=at(when)).code == 0
    assert "True" in place.real("call", "x509.expires", f"{place.base}/ca.crt", "9999999", env=at(when)).out


@needs_library
def test_chains_know_what_they_have_done_whatever_the_clock_says(place: Place) -> None:
    log = place.base / "log"
    for number in (0, 1):
        (place.base / f"{number}.yaml").write_text(CHAIN.format(number))
    for step, when in enumerate((*ODD, "2026-01-01 00:00:00", ODD[0]), start=1):  # it goes back, too
        assert place.real("chain", "run", "0.yaml", env=at(when)).code == 0
        assert place.real("chain", "run", "1.yaml", env=at(when)).code == 2
        last = place.real("chain", "status", "last", "--out", "json", env=at(when))
        assert '"failed"' in last.out, "the last chain is the one that ran last"
        assert place.real("chain", "retry", "last", env=at(when)).code == 2
        assert log.read_text().split().count("1") == 2 * step
        for words in ("status", "status --out json", "status last", "resume"):
            is_sane(place.real("chain", *words.split(), env=at(when)))
    assert log.read_text().split().count("0") == step


@needs_library
def test_a_later_run_is_a_newer_one_whatever_the_clock_said_before(place: Place) -> None:
    place.write({"main.sls": STATES.format(at=place.base), "etc/saltern.yaml": "keep_runs: 3\n"})
    for when in (*YEARS, "2026-01-01 00:00:00"):
        place.write({"main.sls": f"{when}:\n  test.nop: []\n"})
        is_sane(place.real("apply", "main", env=at(when)))
        last = place.real("show", "run", "--out", "json", env=at(YEARS[0]))
        assert when in last.out, "the last run is the one that ran last"
    numbers = re.findall(r"^\d+", place.real("runs").out, re.MULTILINE)
    assert len(numbers) == 3, "the oldest are removed, and no newer one"
    assert {len(number) for number in numbers} == {20}
    assert numbers == sorted(numbers, reverse=True)


@needs_library
@pytest.mark.parametrize(
    ("before", "after"),
    [("2026-06-01 00:00:00", "1970-01-02 00:00:00"), ("9999-06-01 00:00:00", "2026-06-01 00:00:00")],
)
def test_a_clock_that_goes_back_between_a_break_and_a_resume(place: Place, before: str, after: str) -> None:
    on, gate, log = (place.base / name for name in ("on", "gate", "log"))
    waits = f"touch {on}; until test -e {gate}; do sleep 0.1; done"
    place.write(
        {
            "main.sls": f"a:\n  cmd.run: [{{name: echo a >> {log}}}]\n"
            f"b:\n  cmd.run: [{{name: 'echo b >> {log}; {waits}'}}]\n"
            f"c:\n  cmd.run: [{{name: echo c >> {log}}}]\n"
        }
    )
    process = place.start("apply", "main", env=at(before))
    wait_for(on)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    gate.touch()
    wait_until_no_program_runs(place)  # libfaketime refuses the sleep of Python's that waits for it
    done = place.real("resume", "--out", "json", env=at(after))
    is_sane(done)
    assert done.code == 0, done.err
    assert log.read_text().split() == ["a", "b", "c"]
    for words in ("runs", "show run", "show run --out json", "report --html -o page.html"):
        is_sane(place.real(*words.split(), env=at(after)))


@needs_library
def test_a_clock_that_goes_back_during_a_run(place: Place) -> None:
    moment, on, gate = (place.base / name for name in ("moment", "on", "gate"))
    moment.write_text("@2026-06-01 00:00:00")
    place.write(
        {
            "main.sls": f"a:\n  cmd.run: [{{name: 'touch {on}; until test -e {gate}; do sleep 0.1; done'}}]\n"
            "b:\n  cmd.run: [{name: echo b}, {retry: {attempts: 2, interval: 1}}]\n"
        }
    )
    env = {"LD_PRELOAD": LIBRARY, "FAKETIME_TIMESTAMP_FILE": str(moment), "FAKETIME_NO_CACHE": "1"}
    process = place.start("apply", "main", "--out", "json", env={**env, "FAKETIME_DONT_FAKE_MONOTONIC": "1"})
    wait_for(on)
    moment.write_text("@1971-01-01 00:00:00")
    gate.touch()
    out, err = process.communicate(timeout=100)
    is_sane(Done(process.returncode, out.decode(), err.decode()))
    assert process.returncode == 0
    for words in ("runs", "show run --out json", "report --html -o page.html"):
        is_sane(place.real(*words.split()))


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.05)


# -- any number ------------------------------------------------------------------------------------------

numbers = st.one_of(st.floats(), st.integers(-(2**70), 2**70).map(float), st.floats(EARLIEST, LATEST))


@given(numbers, numbers)
def test_any_number_has_a_date_and_a_job_number_that_sorts(one: float, other: float) -> None:
    assert EARLIEST <= clamp_moment(one) <= LATEST
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", stamp(one))
    first, second = (run_number(value) for value in (one, other))
    assert len(first) == len(second) == 20
    if clamp_moment(one) + 1e-3 < clamp_moment(other):
        assert first < second


def test_our_clock_is_the_machines() -> None:
    before = time.time()
    assert before <= clock.now() <= time.time()
    assert os.times().elapsed > 0


def wait_until_no_program_runs(place: Place) -> None:
    while any(ledger.at_work(str(folder)) for folder in (place.base / "runs").rglob(f"*{KEPT}")):
        time.sleep(0.05)
