"""Beacons: what each reports of this machine, when, and under which tag."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.harness import run, until

from saltern.fleet.agent.beacons import diskusage, inotify, load, log, memusage, ps, service, systemd
from saltern.fleet.agent.beacons.loop import Beacon, Beacons, news
from saltern.fleet.agent.beacons.table import BEACONS, find_check
from saltern.language.beacon_options import options_of
from saltern.modules.lib import beacons as lib


def test_every_beacon_of_the_table_can_look_and_is_known_to_the_functions() -> None:
    for name in BEACONS:
        assert find_check(name) is not None
    assert tuple(sorted(BEACONS)) == lib.KNOWN
    assert find_check("nonsense") is None


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ([{"percent": "63%"}, {"interval": 5}], {"percent": "63%", "interval": 5}),
        ({"percent": 63}, {"percent": 63}),
        ([], {}),
        (None, {}),
    ],
)
def test_options_are_read_from_lists_and_mappings(given: object, options: dict[str, Any]) -> None:
    assert options_of(given) == options


def test_memory_and_disks_are_reported_from_their_limit_on() -> None:
    (found,) = memusage.check({"percent": "0%"}, {})
    assert 0 < found["memusage"] < 100
    assert memusage.check({"percent": "101%"}, {}) == []
    (disk,) = diskusage.check({"/": "0%", "interval": 5}, {})
    assert disk["mount"] == "/"
    assert diskusage.check({"/": "101%"}, {}) == []
    assert diskusage.check({"^/nowhere$": "0%", "(": "0%"}, {}) == []
    assert {"mount": "/proc", "diskusage": None} not in diskusage.check({"^/proc$": "0%"}, {})


def test_load_is_reported_outside_of_its_range_and_only_on_change_if_asked() -> None:
    never, always = {"averages": {"1m": [-1, 10**6]}}, {"averages": {"1m": [10**6, 10**7]}}
    assert load.check(never, {}) == []
    (found,) = load.check(always, {})
    assert set(found) == {"1m", "5m", "15m"}
    state: dict[str, Any] = {}
    quiet = {"onchangeonly": True, "emitatstartup": False}
    assert load.check({**never, **quiet}, state) == []
    assert len(load.check({**always, **quiet}, state)) == 1
    assert load.check({**always, **quiet}, state) == []
    assert len(load.check({**never, **quiet}, state)) == 1


def test_processes_are_reported_as_they_are_wanted() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        try:
            name = Path(f"/proc/{child.pid}/comm").read_text().strip()
            wanted = {"processes": {name: "running", "no-such-program": "stopped"}}
            assert ps.check(wanted, {}) == [{name: "Running"}, {"no-such-program": "Stopped"}]
            other = {"processes": {name: "stopped", "no-such-program": "running"}}
            assert ps.check(other, {}) == []
        finally:
            child.communicate(b"\n")


def test_a_service_is_reported_on_change_after_its_delay(tmp_path: Path) -> None:
    now, running = [0.0], [True]
    state: dict[str, Any] = {}

    def look(**options: Any) -> list[dict[str, Any]]:
        return service.report("web", options, state, lambda _name: running[0], lambda: now[0])

    assert look() == [{"tag": "web", "service_name": "web", "web": {"running": True}}]
    asked: dict[str, Any] = {"onchangeonly": True, "delay": 30, "emitatstartup": False}
    assert look(**asked) == []
    running[0] = False
    assert look(**asked) == []
    now[0] = 31.0
    assert look(**asked)[0]["web"] == {"running": False}
    assert look(**asked) == []
    marker = tmp_path / "web.pid"
    marker.write_text("1")
    (found,) = look(uncleanshutdown=str(marker))
    assert found["web"] == {"running": False, "shutdown": False}


def test_a_unit_is_reported_when_it_has_changed() -> None:
    state: dict[str, Any] = {"x.service": {"ActiveState": "before"}}
    (found,) = systemd.check({"units": {"x.service": {}}}, state)
    assert (found["tag"], found["before"]) == ("x.service", {"ActiveState": "before"})
    assert systemd.check({"units": {"x.service": {}}}, state) == []


def test_new_lines_of_a_log_are_matched_also_after_it_was_rotated(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("old goodbye\n")
    config = {"file": str(path), "tags": {"bye": {"regex": "good(bye)"}, "all": {"regex": "."}}}
    state: dict[str, Any] = {}
    assert log.check(config, state) == []
    with path.open("a") as file:
        file.write("goodbye 1\nhalf")
    assert [one["tag"] for one in log.check(config, state)] == ["bye", "all"]
    with path.open("a") as file:
        file.write(" line\n")
    assert log.check(config, state) == [{"tag": "all", "raw": "half line", "error": "", "match": "yes"}]
    path.rename(tmp_path / "log.1")
    path.write_text("goodbye 2\n")
    assert [one["raw"] for one in log.check(config, state)] == ["goodbye 2"] * 2
    assert log.check({"file": str(tmp_path / "none"), "tags": {}}, {}) == []


def test_files_that_change_are_reported_with_what_happened(tmp_path: Path) -> None:
    folder, one = tmp_path / "folder", tmp_path / "one"
    folder.mkdir()
    one.write_text("a")
    rows = {
        str(folder): {
            "mask": ["create", "delete"],
            "recurse": True,
            "auto_add": True,
            "exclude": [f"{folder}/no"],
        },
        str(one): {"mask": ["modify"]},
        str(tmp_path / "later"): {},
    }
    config, state = {"files": rows}, dict[str, Any]()
    assert inotify.check(config, state) == []
    one.write_text("b")
    (folder / "no").write_text("x")
    (folder / "new").write_text("x")
    found = {(item["path"], item["change"]) for item in inotify.check(config, state)}
    assert found == {(str(one), "IN_MODIFY"), (str(folder / "new"), "IN_CREATE")}
    (folder / "sub").mkdir()
    assert inotify.check(config, state)[0]["change"] == "IN_CREATE|IN_ISDIR"
    (folder / "sub" / "deep").write_text("x")
    assert inotify.check(config, state)[0]["path"] == str(folder / "sub" / "deep")
    (folder / "new").unlink()
    assert inotify.check(config, state)[0]["change"] == "IN_DELETE"
    (tmp_path / "later").write_text("x")
    inotify.check(config, state)
    (tmp_path / "later").write_text("y")
    assert inotify.check(config, state)[0]["path"] == str(tmp_path / "later")


def test_only_what_differs_is_news_if_asked() -> None:
    beacon = Beacon(name="memusage", check=memusage.check, config={"onchangeonly": True})
    assert news(beacon, [{"memusage": 1}]) == [{"memusage": 1}]
    assert news(beacon, [{"memusage": 1}]) == []
    assert news(beacon, []) == []
    assert news(beacon, [{"memusage": 1}]) == [{"memusage": 1}]
    late = Beacon(
        name="memusage", check=memusage.check, config={"onchangeonly": True, "emitatstartup": False}
    )
    assert news(late, [{"memusage": 1}]) == []
    assert news(late, [{"memusage": 2}]) == [{"memusage": 2}]


def test_the_loop_sends_events_with_salts_tags_and_pauses_while_states_run(tmp_path: Path) -> None:
    async def scenario() -> None:
        sent: list[tuple[str, dict[str, Any]]] = []
        busy = [False]
        path = tmp_path / "watched"
        path.write_text("")

        def send(tag: str, data: dict[str, Any]) -> str:
            sent.append((tag, data))
            return ""

        beacons = Beacons("web1", send, busy=lambda: busy[0])
        task = asyncio.create_task(beacons.run())
        try:
            files = {"files": {str(path): {"mask": ["modify"]}}}
            options = [
                files,
                {"interval": 0.5},
                {"disable_during_state_run": True},
                {"beacon_module": "inotify"},
            ]
            beacons.use({"mine": options, "nonsense": [], "memusage": [{"percent": 0}, {"enabled": False}]})
            await until(lambda: bool(beacons._known["mine"].state))
            path.write_text("x")
            await until(lambda: bool(sent))
            tag, data = sent[0]
            assert tag == f"salt/beacon/web1/mine/{path}"  # two slashes, as Salt has it
            assert data == {"path": str(path), "change": "IN_MODIFY", "beacon_name": "mine"}
            assert set(beacons._known) == {"mine"}
            beacons.use({"enabled": False, "mine": options})
            assert not beacons._known
        finally:
            task.cancel()

    run(scenario())
