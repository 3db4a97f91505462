"""Beside a Salt minion: a run waits for the minion's state runs, and the minion sees ours."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from saltern.journal.salt_minion import OWN, beside_salt, running_jobs
from saltern.language.diagnostics import OperationError


@contextmanager
def job(cache: Path, function: str, *, program: str = "salt-minion") -> Iterator[Path]:
    """A job of a minion, as the minion writes it, with a process that lives."""
    command = ["sh", "-c", "read line", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        while program.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes():
            time.sleep(0.01)  # it is about to be executed
        path = cache / "proc" / "20261116120000000000"
        path.parent.mkdir(parents=True, exist_ok=True)
        body = {"pid": process.pid, "jid": path.name, "fun": function, "arg": []}
        path.write_bytes(msgspec.msgpack.encode(body))
        try:
            yield path
        finally:
            process.kill()


def test_the_minion_sees_our_run_and_no_longer_when_it_is_over(tmp_path: Path) -> None:
    with beside_salt(str(tmp_path), 0.0):
        (mark,) = (tmp_path / "proc").iterdir()
        body = msgspec.msgpack.decode(mark.read_bytes())
        assert (body["fun"], body["pid"], len(body["jid"])) == (OWN, os.getpid(), 20)
        assert mark.stat().st_mode & 0o077 == 0
        assert running_jobs(str(tmp_path / "proc")) == []  # our own is no other
    assert list((tmp_path / "proc").iterdir()) == []


def test_a_state_run_of_the_minion_is_waited_for_and_leaves_no_mark_of_ours(tmp_path: Path) -> None:
    with job(tmp_path, "state.apply") as path:
        with (
            pytest.raises(OperationError, match=r"applies states: state\.apply"),
            beside_salt(str(tmp_path), time.monotonic()),
        ):
            raise AssertionError("both run at once")
        assert list((tmp_path / "proc").iterdir()) == [path]
    with beside_salt(str(tmp_path), time.monotonic()):
        pass  # its process is gone, though its file is not


@pytest.mark.parametrize(("function", "program"), [("test.ping", "salt-minion"), ("state.apply", "cron")])
def test_other_jobs_and_other_processes_do_not_matter(tmp_path: Path, function: str, program: str) -> None:
    with job(tmp_path, function, program=program), beside_salt(str(tmp_path), time.monotonic()):
        pass


def test_a_state_run_that_has_started_us_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    body = {"pid": os.getppid(), "jid": "1", "fun": "state.apply"}
    (tmp_path / "proc" / "1").write_bytes(msgspec.msgpack.encode(body))
    with beside_salt(str(tmp_path), time.monotonic()):
        pass


def test_what_is_no_job_is_no_reason_to_wait(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    for number, content in enumerate((b"", b"\xc1", b"\x93\x01\x02\x03", b"\x81\xa3fun")):
        (tmp_path / "proc" / str(number)).write_bytes(content)
    with beside_salt(str(tmp_path), time.monotonic()):
        pass


def test_a_cache_that_cannot_be_written_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OperationError, match="salt_minion"), beside_salt(str(tmp_path / "file"), 0.0):
        pass


def test_apply_waits_for_the_minion(tmp_path: Path) -> None:
    (tmp_path / "a.sls").write_text("a:\n  test.nop: []\n")
    config = tmp_path / "saltern.yaml"
    config.write_text(
        f"file_roots: {{base: [{tmp_path}]}}\nstate_dir: {tmp_path}/state\nsalt_minion: {tmp_path}/cache\n"
    )
    command = [sys.executable, "-m", "saltern", "apply", "a", "--config", str(config), "--queue", "0"]
    with job(tmp_path / "cache", "state.highstate"):
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "state.highstate" in refused.stderr
    assert done.returncode == 0, done.stderr
