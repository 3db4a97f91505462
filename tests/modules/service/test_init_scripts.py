"""``service`` with a real init script, ``/etc/init.d/saltern-t-svc``, on a machine systemd did not boot."""

from __future__ import annotations

import glob
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.modules.bench import Bench, alone, needs_root

from saltern.language.result import Outcome
from saltern.modules.functions import service as service_functions
from saltern.modules.states import service
from saltern.system.clock import SystemClock

NAME = "saltern-t-svc"
SCRIPT = f"/etc/init.d/{NAME}"

# The daemon keeps the output of its script open, as careless ones do: nobody may wait for its end.
TEXT = """#!/bin/sh
### BEGIN INIT INFO
# Provides:          saltern-t-svc
# Required-Start:
# Required-Stop:
# Default-Start:     2 3 4 5
# Default-Stop:      0 1 6
# Short-Description: a test of saltern
### END INIT INFO
PID=@/pid
alive() { [ -e $PID ] && kill -0 $(cat $PID) 2>/dev/null; }
case "$1" in
  start) echo start >>@/log; [ -e @/broken ] && { echo "no luck today"; exit 1; }
         alive || { setsid sleep 4321 & echo $! >$PID; } ;;
  stop) echo stop >>@/log; alive && kill $(cat $PID); rm -f $PID ;;
  restart) $0 stop; $0 start ;;
  reload|force-reload) echo $1 >>@/log ;;
  status) if alive; then echo running; else echo stopped; exit 3; fi ;;
  *) exit 2 ;;
esac
exit 0
"""


class Script:
    def __init__(self, place: Path, bench: Bench) -> None:
        self.place = place
        self.bench = bench

    def log(self) -> list[str]:
        found = self.place / "log"
        lines = found.read_text().split() if found.exists() else []
        found.write_text("")
        return lines

    def pid(self) -> int:
        return int((self.place / "pid").read_text())


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Script]:
    bench = Bench(
        tmp_path, service, functions={"service": service_functions}, opts={"providers": {"service": "sysv"}}
    )
    place = tmp_path / "service"
    place.mkdir()
    if os.geteuid():
        yield Script(place, bench)
        return
    with alone():
        Path(SCRIPT).write_text(TEXT.replace("@", str(place)))
        os.chmod(SCRIPT, 0o755)
        try:
            yield Script(place, bench)
        finally:
            subprocess.run([SCRIPT, "stop"], check=False)
            os.remove(SCRIPT)
            for link in glob.glob(f"/etc/rc?.d/???{NAME}"):
                os.remove(link)


@needs_root("update-rc.d")
def test_a_service_is_started_and_enabled_once(script: Script) -> None:
    done = script.bench.change("running", NAME, enable=True)
    assert done.changes == {NAME: True}
    assert done.data == {
        "name": NAME,
        "exists": True,
        "running": True,
        "enabled": True,
        "masked": False,
        "provider": "sysv",
    }
    assert script.log() == ["start"]
    done = script.bench.change("running", NAME, enable=False)
    assert (done.comment, script.log()) == (f"Service {NAME} was disabled", [])


@needs_root("update-rc.d")
def test_a_service_is_stopped_and_disabled_once(script: Script) -> None:
    script.bench.change("running", NAME, enable=True)
    assert script.bench.change("dead", NAME, enable=False).changes == {NAME: True}
    assert script.bench.change("enabled", NAME).data["running"] is False
    assert script.bench.change("disabled", NAME).data["enabled"] is False


@needs_root("update-rc.d")
def test_a_watched_change_restarts_reloads_or_stops(script: Script) -> None:
    bench = script.bench
    bench.change("running", NAME)
    first = script.pid()
    script.log()
    foreseen = bench.react("running", NAME, test=True)
    assert (foreseen.outcome, foreseen.changes) == (Outcome.WOULD_CHANGE, {NAME: True})
    assert script.log() == []
    done = bench.react("running", NAME)
    assert (done.outcome, done.changes, script.log()) == (Outcome.OK, {NAME: True}, ["stop", "start"])
    assert script.pid() != first
    bench.react("running", NAME, reload=True)
    bench.react("running", NAME, reload=True, force=True)
    assert script.log() == ["reload", "force-reload"]
    bench.react("running", NAME, full_restart=True, init_delay=2)
    assert script.log() == ["stop", "start"]
    assert bench.react("dead", NAME).changes == {NAME: True}
    assert bench.react("dead", NAME).changes == {}
    assert bench.react("running", NAME, reload=True).comment == f"Service {NAME} was started"
    assert "cannot react" in bench.react("enabled", NAME).comment


@needs_root("update-rc.d")
def test_a_start_that_fails_says_what_the_script_said(script: Script) -> None:
    (script.place / "broken").write_text("")
    assert "no luck today" in script.bench.refusal("running", NAME)
    assert "could not be started: " in script.bench.react("running", NAME).comment


@needs_root("update-rc.d")
def test_a_pattern_tells_whether_it_runs(script: Script) -> None:
    script.bench.run.clock = SystemClock()  # a process needs its moment to begin and to end
    script.bench.change("running", NAME, sig="^sleep 4321$")
    script.bench.change("dead", NAME, sig="^sleep 4321$")
    assert "sig is not a regular expression" in script.bench.refusal("running", NAME, sig="(")


@needs_root("update-rc.d")
def test_functions_ask_and_move(script: Script) -> None:
    salt = script.bench.salt
    assert salt["service.available"](NAME) and not salt["service.missing"](NAME)
    assert salt["service.status"](NAME) is False
    assert salt["service.start"](NAME) and salt["service.enable"](NAME)
    assert salt["service.status"]("saltern-t-*") == {NAME: True}
    assert salt["service.enabled"](NAME) and not salt["service.disabled"](NAME)
    assert NAME in salt["service.get_all"]()  # type: ignore[operator]
    assert salt["service.restart"](NAME) and salt["service.stop"](NAME) and salt["service.disable"](NAME)


def test_a_service_that_does_not_exist_is_dead_and_cannot_run(script: Script) -> None:
    bench = script.bench
    assert "does not exist" in bench.refusal("running", "saltern-t-none")
    assert "does not exist" in bench.refusal("enabled", "saltern-t-none")
    assert bench.call("running", "saltern-t-none", test=True).outcome is Outcome.WOULD_CHANGE
    bench.same("dead", "saltern-t-none")
    bench.same("disabled", "saltern-t-none")


def test_what_cannot_be_is_refused_in_words(script: Script) -> None:
    bench = script.bench
    assert "cannot be the name of a service" in bench.refusal("running", "../x")
    assert "cannot be masked" in bench.refusal("masked", NAME)
    result = bench.call("dead", "saltern-t-none", enabel=True)
    assert result.warnings == ("argument 'enabel' has no effect here; did you mean 'enable'?",)
