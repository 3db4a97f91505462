"""A controller as a process: its policy file, SIGHUP, and a login over TLS by the printed fingerprint."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="needs the extra `controller`")
PROGRAM = [sys.executable, "-m", "saltern"]
PASSWORD = "correct horse battery"
RULE = "rules:\n  - {{name: {name}, who: anna, functions: test.ping}}\n"


@contextmanager
def controller(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "log").open("wb") as log:
        line = [*PROGRAM, "controller", "--directory", str(folder)]
        process = subprocess.Popen(line, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)


def wait_for(folder: Path, word: str, seconds: float = 60.0) -> str:
    """What the controller has said, once it has said this."""
    end = time.monotonic() + seconds
    while word not in (text := (folder / "log").read_text()):
        assert time.monotonic() < end, text
        time.sleep(0.05)
    return text


def saltern(folder: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    environ = {
        **os.environ,
        "XDG_CONFIG_HOME": str(folder),
        "SALTERN_CONTROLLER": str(folder / "controller.sock"),
    }
    environ.pop("SALTERN_TOKEN", None)
    return subprocess.run(
        [*PROGRAM, *words], input=stdin, env=environ, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_policy_file_is_in_force_from_the_start_and_read_again_on_sighup(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(RULE.format(name="one"))
    with controller(tmp_path) as process:
        said = wait_for(tmp_path, "ready")
        assert "name: one" in saltern(tmp_path, "policy").stdout
        policy.write_text(RULE.format(name="two"))
        process.send_signal(signal.SIGHUP)
        wait_for(tmp_path, "was read again")
        assert "name: two" in saltern(tmp_path, "policy").stdout
        policy.write_text("rules: 5\n")
        process.send_signal(signal.SIGHUP)
        assert f"{policy}:1" in wait_for(tmp_path, "stays as it was")
        assert "name: two" in saltern(tmp_path, "policy").stdout
        log_in_from_elsewhere(tmp_path, said)


def log_in_from_elsewhere(folder: Path, said: str) -> None:
    (address,) = re.findall(r"https://\S+", said)
    (fingerprint,) = re.findall(r"--fingerprint ([0-9a-f]{64})", said)
    assert saltern(folder, "operators", "add", "anna", stdin=f"{PASSWORD}\n").returncode == 0
    there = ("--controller", address)
    assert "not trusted" in saltern(folder, "login", "anna", *there, stdin=f"{PASSWORD}\n").stderr
    wrong = saltern(folder, "login", "anna", *there, "--fingerprint", "00" * 32, stdin=f"{PASSWORD}\n")
    assert wrong.returncode == 1 and "controller-fingerprint" in wrong.stderr
    done = saltern(folder, "login", "anna", *there, "--fingerprint", fingerprint, stdin=f"{PASSWORD}\n")
    assert done.returncode == 0, done.stderr
    assert saltern(folder, "fleet", "systems", *there).returncode == 0
    assert saltern(folder, "logout", *there).returncode == 0
    assert saltern(folder, "login", "anna", *there, stdin=f"{PASSWORD}\n").returncode == 0  # the CA is kept


def test_a_controller_does_not_start_with_a_policy_that_has_mistakes(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("rules:\n  - {who: anna, functoins: '*'}\n")
    with controller(tmp_path) as process:
        assert process.wait(60) == 1
    said = (tmp_path / "log").read_text()
    assert "policy.yaml:2" in said and "did you mean 'functions'?" in said
