"""A run with reboots goes through them, whatever happens to its processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.barriers.machine import DOWN, KILLED, Site
from tests.barriers.reference import FILES, WHOLE

ALWAYS = "restart:\n  system.reboot:\n    - only_on_pending_reboot: false\n"


def ended(site: Site) -> str:
    assert site.state is not None
    return site.state.status


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
    module = 'def loop(name):\n    return {"name": name, "result": True, "comment": "", "changes": {}, "reboot": "again"}\n'
    site = Site(tmp_path, {"top.sls": "a:\n  ask.loop: []\n", "_states/ask.py": module})
    site.begin()
    site.to_the_end()
    assert ended(site) == "failed"
    assert site.machine.boots == 5


def test_a_failed_state_asks_for_nothing(tmp_path: Path) -> None:
    module = 'def no(name):\n    return {"name": name, "result": False, "comment": "", "changes": {}, "reboot": True}\n'
    site = Site(tmp_path, {"top.sls": "a:\n  ask.no: []\n", "_states/ask.py": module})
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
    text = (
        "beside:\n  ask.reboot:\n    - parallel: true\n"
        "bad:\n  test.fail_without_changes:\n    - failhard: true\n"
    )
    module = (
        "import time\ndef reboot(name):\n    time.sleep(0.5)\n"
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


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("prompt", [True, False], ids=["down at once", "down later"])
def test_killed_at_every_point_it_comes_to_the_same_end(tmp_path: Path, part: int, prompt: bool) -> None:
    """``prompt``: the machine is down before anybody can resume; else a resume comes first."""
    killed = 0
    for process in range(4):
        point = part
        while True:
            site = Site(tmp_path / f"{process}-{point}", FILES)
            if not _killed_in(site, process, point):
                break
            killed += 1
            if not prompt and site.state and site.state.status == "rebooting":
                site.go_on()
            if site.state is None or site.state.status == "unbegun":
                site.begin()
            site.to_the_end()
            check(site)
            point += 4
    assert killed > 20


def _killed_in(site: Site, process: int, point: int) -> bool:
    """Whether the process of this number, the first is 0, passed that many points and was killed."""
    for number in range(process + 1):
        run = site.go_on if number else site.begin
        code = run(kill_at=point if number == process else None)
        if number == process:
            return code == KILLED
        site.machine.boot()
    return False
