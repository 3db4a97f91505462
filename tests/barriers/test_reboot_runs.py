"""A run with reboots goes through them, whatever happens to its processes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.barriers.machine import DOWN, KILLED, Site, chosen
from tests.barriers.reference import FILES, WHOLE

ALWAYS = "restart:\n  system.reboot:\n    - only_on_pending_reboot: false\n"


def asking(result: bool, word: object) -> str:
    """A module whose state asks for a reboot by its return."""
    answer = {"result": result, "comment": "", "changes": {}, "reboot": word}
    return f"def now(name):\n    return dict({answer!r}, name=name)\n"


def ended(site: Site) -> str:
    return site.state.status if site.state is not None else "unbegun"


def test_a_run_goes_through_all_its_reboots(tmp_path: Path) -> None:
    site = Site(tmp_path, FILES)
    site.begin()
    assert ended(site) == "rebooting"
    site.to_the_end()
    assert ended(site) == "succeeded"
    assert site.log == WHOLE
    assert site.machine.boots == 3
    assert set(site.outcomes().values()) == {True}


def test_nothing_goes_on_while_the_machine_has_not_gone_down(tmp_path: Path) -> None:
    site = Site(tmp_path, FILES)
    site.begin()
    assert site.go_on() == DOWN  # waits, until the machine takes it down
    assert site.log == WHOLE[:1]
    assert ended(site) == "rebooting"


def test_a_machine_that_never_goes_down_fails_the_state_and_the_run_ends(tmp_path: Path) -> None:
    site = Site(tmp_path, FILES, stubborn=True)
    site.begin()
    site.to_the_end()
    assert ended(site) == "failed"
    assert site.log == ["first in boot 0", "installer first in boot 0"]
    assert site.outcomes()["restart"] is False
    assert site.outcomes()["installer"] is False


def test_it_is_asked_again_and_again_until_the_start_deadline(tmp_path: Path) -> None:
    site = Site(tmp_path, {"top.sls": ALWAYS + "    - start_deadline: 200\n"}, stubborn=True)
    site.begin()
    site.go_on()
    assert site.state is not None
    assert len(site.state.barriers[0]["armed"]) == 4
    assert ended(site) == "failed"


def test_a_reboot_that_is_not_due_is_none(tmp_path: Path) -> None:
    site = Site(tmp_path, {"top.sls": "restart:\n  system.reboot: []\n"})
    site.begin()
    assert ended(site) == "succeeded"
    assert site.machine.boots == 0


@pytest.mark.parametrize("reboots", [1, 2])
def test_a_run_of_reboots_alone_ends(tmp_path: Path, reboots: int) -> None:
    text = "".join(ALWAYS.replace("restart", f"restart {number}") for number in range(reboots))
    site = Site(tmp_path, {"top.sls": text})
    site.begin()
    site.to_the_end()
    assert ended(site) == "succeeded"
    assert site.machine.boots == reboots


def test_a_check_that_does_not_become_true_fails_the_state(tmp_path: Path) -> None:
    more = "    - return_deadline: 0\n    - checks: [test -e @/missing]\n"
    site = Site(tmp_path, {"top.sls": ALWAYS + more})
    site.begin()
    site.to_the_end()
    assert site.machine.boots == 1
    assert ended(site) == "failed"


def test_a_state_that_asks_for_ever_fails(tmp_path: Path) -> None:
    site = Site(tmp_path, {"top.sls": "a:\n  ask.now: []\n", "_states/ask.py": asking(True, "again")})
    site.begin()
    site.to_the_end()
    assert ended(site) == "failed"
    assert site.machine.boots == 5


def test_a_failed_state_asks_for_nothing(tmp_path: Path) -> None:
    site = Site(tmp_path, {"top.sls": "a:\n  ask.now: []\n", "_states/ask.py": asking(False, True)})
    site.begin()
    assert ended(site) == "failed"
    assert site.machine.boots == 0


def test_states_beside_it_end_before_the_machine_goes_down(tmp_path: Path) -> None:
    text = (
        "slow:\n  cmd.run:\n    - name: sleep 0.5; echo slow >> @/log\n    - parallel: true\n"
        + ALWAYS
        + "after:\n  cmd.run:\n    - name: echo after >> @/log\n    - require:\n      - cmd: slow\n"
    )
    site = Site(tmp_path, {"top.sls": text})
    site.begin()
    assert site.log == ["slow"]
    site.to_the_end()
    assert site.log == ["slow", "after"]
    assert ended(site) == "succeeded"


def test_a_run_that_has_failed_hard_does_not_reboot(tmp_path: Path) -> None:
    text = "beside:\n  ask.reboot:\n    - parallel: true\nbad:\n  ask.bad:\n    - failhard: true\n"
    module = (
        f"import os, time\nFAILED = {str(tmp_path / 'failed')!r}\n"
        "def bad(name):\n    open(FAILED, 'w').close()\n"
        '    return {"name": name, "result": False, "comment": "", "changes": {}}\n'
        "def reboot(name):\n    while not os.path.exists(FAILED): time.sleep(0.02)\n    time.sleep(0.3)\n"
        '    return {"name": name, "result": True, "comment": "", "changes": {}, "reboot": True}\n'
    )
    site = Site(tmp_path, {"top.sls": text, "_states/ask.py": module})
    site.begin()
    assert ended(site) == "failed"
    assert site.machine.boots == 0


def check(site: Site) -> None:
    """What holds however the run was broken."""
    assert ended(site) == "succeeded", site.outcomes()
    assert site.machine.boots == 3
    assert list(dict.fromkeys(site.log)) == WHOLE  # each in its boot, in its place; a rerun says the same


@pytest.mark.parametrize("process", range(4))
@pytest.mark.parametrize("prompt", [True, False], ids=["down at once", "down later"])
def test_killed_at_every_point_it_comes_to_the_same_end(tmp_path: Path, process: int, prompt: bool) -> None:
    """``prompt``: the machine is down before anybody can resume; else a resume comes first."""
    site = Site(tmp_path / "site", FILES)
    for number in range(process):
        _ = site.go_on() if number else site.begin()
        site.machine.boot()
    kept = tmp_path / "kept"
    shutil.copytree(site.place, kept)
    run = site.go_on if process else site.begin
    run()
    points = list(site.points)
    for at in chosen(points):
        shutil.rmtree(site.place)
        shutil.copytree(kept, site.place)
        assert run(kill_at=at) == KILLED
        if prompt or ended(site) == "rebooting":
            _ = None if prompt else site.go_on()
            _ = site.begin() if ended(site) == "unbegun" else None
            site.to_the_end()
            check(site)
    assert {"barrier.asked", "barrier.kept", "reboot.arm", "reboot.armed"} <= set(points) or process == 3
    assert process == 0 or {"reboot.proven", "reboot.crossed"} <= set(points)
