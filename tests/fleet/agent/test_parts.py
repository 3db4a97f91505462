"""Smaller parts of an agent: deny list, clock, credential, service, what a worker printed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.agent.light import FLEET as NAME
from tests.fleet.agent.light import ROOT, issuer

from saltern.fleet.agent import service
from saltern.fleet.agent.agent import connection_problem
from saltern.fleet.agent.clock import LONGEST_BACK, FleetClock
from saltern.fleet.agent.deny import ALL, DenyList
from saltern.fleet.agent.log import LogFile, read_log
from saltern.fleet.agent.outbox import ANEW, turn_of
from saltern.fleet.agent.output import pack_output, read_output
from saltern.fleet.agent.renewal import renewal_time
from saltern.fleet.agent.task import JobFolder, Outcome, Step
from saltern.fleet.agent.watch import Seen, is_worth_sending
from saltern.fleet.bus.reasons import reason_of
from saltern.fleet.protocol.envelope import Refused, Trust
from saltern.fleet.protocol.messages import Audience, SyncAnswer

TRUST = Trust(fleet=NAME, roots=(ROOT.public,))
DAY = 86_400.0


# -- deny list -------------------------------------------------------------------------------------


def test_the_deny_list_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "agent.d" / "deny.yaml"
    denied = DenyList(str(path))
    assert denied() == ()
    path.parent.mkdir()
    path.write_text("deny:\n  - cmd.*\n  - system.reboot\n")
    assert denied() == ("cmd.*", "system.reboot")
    path.unlink()
    assert denied() == ()


BROKEN = {
    "no YAML": "deny: [",
    "no list": "deny: cmd.*",
    "no texts": "deny: [{a: 1}]",
    "another key": "denied: [cmd.*]",
    "no mapping": "- cmd.*",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_list_that_cannot_be_understood_denies_everything(tmp_path: Path, name: str) -> None:
    path = tmp_path / "deny.yaml"
    path.write_text(BROKEN[name])
    found = DenyList(str(path)).current()
    assert (found.patterns, str(path) in found.problem) == (ALL, True)


def test_an_empty_list_denies_nothing(tmp_path: Path) -> None:
    (tmp_path / "deny.yaml").write_text("# nothing yet\n")
    assert DenyList(str(tmp_path / "deny.yaml"))() == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is asked to be careful")
def test_root_does_not_believe_a_list_that_others_can_write(tmp_path: Path) -> None:
    path = tmp_path / "deny.yaml"
    path.write_text("deny: []\n")
    path.chmod(0o666)
    assert DenyList(str(path))() == ALL


# -- clock -----------------------------------------------------------------------------------------


def answer(issued: float, nonce: str) -> bytes:
    made = issuer(issued - 10)
    return made.issue(SyncAnswer(), Audience(ids=["me"]), now=issued, life=300, nonce=nonce)


@pytest.mark.parametrize("off", [-DAY, DAY, 0.0, 400 * DAY])
def test_an_answer_to_our_own_question_sets_the_clock(off: float) -> None:
    now = time.time()
    clock = FleetClock(lambda: now + off)
    clock.check_answer(answer(now, "n"), TRUST, me="me", nonce="n")
    assert clock.now() == pytest.approx(now)
    assert clock.is_wrong == bool(off)


def test_the_clock_is_not_turned_back_and_not_by_another_question() -> None:
    clock = FleetClock(time.time)
    clock.check_answer(answer(time.time(), "n"), TRUST, me="me", nonce="n")
    with pytest.raises(Refused):
        clock.check_answer(answer(time.time() - DAY, "m"), TRUST, me="me", nonce="m")
    with pytest.raises(Refused):
        clock.check_answer(answer(time.time() + DAY, "n"), TRUST, me="me", nonce="m")
    assert not clock.is_wrong


def test_a_controller_whose_clock_ran_ahead_and_was_corrected_is_believed() -> None:
    clock = FleetClock(time.time)
    clock.check_answer(answer(time.time() + DAY, "n"), TRUST, me="me", nonce="n")
    wrong = clock.is_wrong
    assert wrong  # as far as it knows
    clock.check_answer(answer(time.time(), "m"), TRUST, me="me", nonce="m")
    assert not clock.is_wrong
    with pytest.raises(Refused):  # the guard is where it was before
        clock.check_answer(answer(time.time() - DAY, "o"), TRUST, me="me", nonce="o")


@given(
    off=st.floats(-400 * DAY, 400 * DAY).filter(lambda off: abs(off) > 3600.0),
    ahead=st.floats(1200.0, 400 * DAY),
)
def test_a_clock_that_is_wrong_itself_is_never_turned_back(off: float, ahead: float) -> None:
    now = time.time()
    clock = FleetClock(lambda: now + off, latest=now + ahead)
    with pytest.raises(Refused):
        clock.check_answer(answer(now, "n"), TRUST, me="me", nonce="n")


def test_a_controller_that_was_ahead_for_longer_than_some_days_is_not_believed() -> None:
    clock = FleetClock(time.time, latest=time.time() + LONGEST_BACK + DAY)
    with pytest.raises(Refused):
        clock.offset = LONGEST_BACK + DAY
        clock.check_answer(answer(time.time(), "n"), TRUST, me="me", nonce="n")


def test_a_credential_is_renewed_at_half_of_its_life() -> None:
    assert renewal_time(0, 1000) == 500
    assert renewal_time(0, 1000, chance=1.0) == 600


# -- progress --------------------------------------------------------------------------------------


def test_progress_is_sent_at_most_once_a_second_but_failures_at_once() -> None:
    seen = Seen(step=Step(done=1), at=100.0)
    assert not is_worth_sending(seen, Step(done=1), 200.0)
    assert not is_worth_sending(seen, Step(done=2), 100.5)
    assert is_worth_sending(seen, Step(done=2), 101.0)
    assert is_worth_sending(seen, Step(done=2, failed=1), 100.1)


# -- output ----------------------------------------------------------------------------------------


def printed(tmp_path: Path, text: bytes, **options: object) -> tuple[Outcome, object]:
    folder = JobFolder(str(tmp_path))
    Path(folder.file("out")).write_bytes(text)
    Path(folder.file("err")).write_text("careful\n")
    found = pack_output(folder, Outcome(attempt=1, code=0), **options)  # type: ignore[arg-type]
    return found, read_output(folder, found)


def test_what_a_worker_printed_is_packed_as_data(tmp_path: Path) -> None:
    found, value = printed(tmp_path, b'{"local": [1, "\xc3\xa4"]}\n', bare=True)
    assert (value, found.why) == ([1, "ä"], "careful")
    assert printed(tmp_path, b'{"local": 1}')[1] == {"local": 1}
    assert printed(tmp_path, b"not data\xff")[1] == "not data\ufffd"
    assert printed(tmp_path, b"")[1] is None


def test_an_output_that_is_too_long_or_too_deep_is_left_out_with_a_reason(tmp_path: Path) -> None:
    found, value = printed(tmp_path, b'"' + b"x" * 5000 + b'"', limit=1000)
    assert (value, "1000 bytes" in found.why) == (None, True)
    found, value = printed(tmp_path, b"[" * 500 + b"]" * 500)
    assert (value, "nested" in found.why) == (None, True)


def test_a_long_output_travels_in_parts(tmp_path: Path) -> None:
    text = os.urandom(900_000).hex()
    found, value = printed(tmp_path, f'"{text}"'.encode())
    assert found.parts > 1
    assert value == text


# -- service and log -------------------------------------------------------------------------------

UNIT, SCRIPT = "/etc/systemd/system/saltern-agent.service", "/etc/init.d/saltern-agent"


def test_the_service_is_installed_once_and_removed(tmp_path: Path) -> None:
    written = service.install(str(tmp_path), directory="/srv/my agent")
    assert UNIT in written
    assert service.install(str(tmp_path), directory="/srv/my agent") == []
    unit = (tmp_path / UNIT.lstrip("/")).read_text()
    assert '"/srv/my agent"' in unit
    script = tmp_path / SCRIPT.lstrip("/")
    assert subprocess.run(["sh", "-n", str(script)], check=False).returncode == 0
    assert "'/srv/my agent'" in script.read_text()
    assert set(service.remove(str(tmp_path))) == set(written)
    assert service.remove(str(tmp_path)) == []


def test_the_init_script_trusts_no_process_id_of_another_program(tmp_path: Path) -> None:
    service.install(str(tmp_path))
    script = tmp_path / SCRIPT.lstrip("/")
    pid = tmp_path / "pid"
    script.write_text(script.read_text().replace(f"/run/{service.NAME}.pid", str(pid)))
    another = subprocess.Popen(["sleep", "600"])
    try:
        pid.write_text(f"{another.pid}\n")
        status = subprocess.run(["sh", str(script), "status"], capture_output=True, text=True, check=False)
        assert (status.returncode, "does not run" in status.stdout) == (3, True)
        assert subprocess.run(["sh", str(script), "stop"], check=False).returncode == 0
        assert another.poll() is None
        assert not pid.exists()
    finally:
        another.kill()
        another.wait()


def test_the_log_does_not_grow(tmp_path: Path) -> None:
    import logging

    path = str(tmp_path / "log")
    handler = LogFile(path, limit=200)
    for number in range(50):
        handler.handle(logging.LogRecord("x", 20, "", 0, f"line {number}", (), None))
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 500
    assert read_log(path, 2) == ["line 48", "line 49"]


def test_a_broker_that_does_not_let_the_machine_in_is_explained() -> None:
    assert connection_problem("tls://c:1: connection refused") == "tls://c:1: connection refused"
    assert "`saltern fleet keys`" in connection_problem("tls://c:1: Authorization Violation")
    assert "`saltern fleet keys`" in connection_problem(
        f"tls://c:1: {reason_of(BrokenPipeError(32, 'Broken pipe'))}"
    )


def test_a_connection_that_is_not_made_is_told_without_the_words_of_python() -> None:
    one = "[Errno 111] Connect call failed ('127.0.0.1', 4222)"
    assert reason_of(OSError(111, "Connect call failed ('127.0.0.1', 4222)")) == "Connection refused"
    assert reason_of(OSError(f"Multiple exceptions: {one}, {one}")) == "Connection refused"
    assert reason_of(OSError(111, "Connection refused")) == "Connection refused"  # of uvloop
    two = "[Errno 111] Connection refused, [Errno 101] Network is unreachable"
    expected = "Connection refused, Network is unreachable"
    assert reason_of(OSError(f"Multiple exceptions: {two}")) == expected
    assert reason_of(OSError(-2, "Name or service not known")) == "Name or service not known"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
@pytest.mark.parametrize("name", ["agent", "controller"])
def test_systemd_takes_the_units(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"saltern-{name}.service"
    if name == "agent":
        service.install(str(tmp_path))
        path.write_text((tmp_path / UNIT.lstrip("/")).read_text())
    else:
        guide = Path(__file__).parents[3] / "docs" / "guides" / "controller.md"
        unit = guide.read_text().partition("```ini\n")[2].partition("```")[0]
        path.write_text(unit.replace("/usr/local/bin/saltern", sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@given(st.floats(0, 90_000.0), st.floats(0, 90_000.0))
def test_a_return_that_waits_is_one_the_broker_has_not_seen_after_a_while(one: float, other: float) -> None:
    assert turn_of(min(one, ANEW - 1)) == ""
    assert (turn_of(one) == turn_of(other)) == (one // ANEW == other // ANEW)
