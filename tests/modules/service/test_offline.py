"""``service`` where no init runs: real units and the real ``systemctl``, in a copy of this machine's /etc."""

from __future__ import annotations

import ctypes
import os
import subprocess
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.modules.apart import apart
from tests.modules.bench import Bench, needs_root

from saltern.language.result import Outcome
from saltern.modules.functions import service as service_functions
from saltern.modules.lib.services import offline
from saltern.modules.lib.services.providers import manager
from saltern.modules.states import service

NOTHING = "Running in OFFLINE mode. Nothing to do"
UNITS = Path("/etc/systemd/system")
SIMPLE = "[Service]\nExecStart=/bin/sleep 9\n[Install]\nWantedBy=multi-user.target\n"
TEXTS = {
    "t-web.service": SIMPLE,
    "t-several.service": SIMPLE + "Alias=t-other.service\nAlso=t-several.socket\n",
    "t-several.socket": "[Socket]\nListenStream=/run/t\n[Install]\nWantedBy=sockets.target\n",
    "t-many@.service": SIMPLE + "DefaultInstance=one\n",
    "t-static.service": "[Service]\nExecStart=/bin/sleep 9\n",
    "t-later.timer": "[Timer]\nOnBootSec=9\n[Install]\nWantedBy=timers.target\n",
}

in_a_machine_of_its_own = needs_root("systemctl", "ip", "mount")


def prepared(tmp_path: Path) -> Bench:
    """The units of the test, and a bench that has to find the manager by itself."""
    for name, text in TEXTS.items():
        (UNITS / name).write_text(text)
    return Bench(tmp_path, service, functions={"service": service_functions})


def links() -> set[str]:
    found = (path for path in UNITS.rglob("t-*") if path.is_symlink())
    return {str(path.relative_to(UNITS)) for path in found}


@in_a_machine_of_its_own
@apart
def test_running_and_dead_are_reported_and_not_tried(tmp_path: Path) -> None:
    bench = prepared(tmp_path)
    for fun in ("running", "dead"):
        for name in ("t-web", "t-none"):
            result = bench.same(fun, name)
            assert (result.comment, result.data["provider"]) == (NOTHING, "offline")
    assert bench.react("running", "t-web").comment == NOTHING
    assert bench.react("dead", "t-web").comment == NOTHING
    assert links() == set()
    assert bench.salt["service.offline"]() is True
    assert bench.salt["service.status"]("t-web") is False


@in_a_machine_of_its_own
@apart
def test_enabling_makes_links_and_disabling_removes_them(tmp_path: Path) -> None:
    bench = prepared(tmp_path)
    bench.change("enabled", "t-web")
    assert links() == {"multi-user.target.wants/t-web.service"}
    bench.same("enabled", "t-web")
    assert bench.salt["service.enabled"]("t-web") is True
    bench.change("disabled", "t-web")
    assert links() == set()
    bench.same("disabled", "t-web")


@in_a_machine_of_its_own
@apart
def test_units_that_come_along_aliases_templates_and_other_kinds(tmp_path: Path) -> None:
    bench = prepared(tmp_path)
    bench.change("enabled", "t-several")
    assert links() == {
        "multi-user.target.wants/t-several.service",
        "sockets.target.wants/t-several.socket",
        "t-other.service",
    }
    bench.change("disabled", "t-several")
    assert links() == set()
    bench.change("enabled", "t-many@two")
    bench.change("enabled", "t-later.timer")
    assert links() == {"multi-user.target.wants/t-many@two.service", "timers.target.wants/t-later.timer"}
    bench.same("enabled", "t-static")
    bench.same("disabled", "t-static")


@in_a_machine_of_its_own
@apart
def test_enable_of_a_running_one_counts_for_the_next_boot(tmp_path: Path) -> None:
    bench = prepared(tmp_path)
    result = bench.change("running", "t-web", enable=True)
    assert result.changes == {"t-web": True} and result.comment.startswith("Running in OFFLINE mode.")
    assert links() == {"multi-user.target.wants/t-web.service"}
    assert bench.same("running", "t-web", enable=True).comment == NOTHING
    bench.change("dead", "t-web", enable=False)
    assert links() == set()
    unknown = bench.call("running", "t-none", enable=True)
    assert (unknown.outcome, unknown.changes) == (Outcome.OK, {}) and "no unit file" in unknown.warnings[0]


@in_a_machine_of_its_own
@apart
def test_masks_are_links_too(tmp_path: Path) -> None:
    bench = prepared(tmp_path)
    (UNITS / "t-web.service").rename("/etc/t-web.service")
    os.makedirs("/run/systemd/generator", exist_ok=True)
    bench.change("masked", "t-web")
    assert os.readlink(UNITS / "t-web.service") == "/dev/null"
    bench.same("masked", "t-web")
    bench.change("unmasked", "t-web")
    assert links() == set()


@in_a_machine_of_its_own
@apart
def test_a_unit_that_is_not_there_cannot_be_enabled_and_is_disabled(tmp_path: Path) -> None:
    bench = prepared(tmp_path)
    assert "does not exist" in bench.refusal("enabled", "t-none")
    bench.same("disabled", "t-none")


@in_a_machine_of_its_own
@apart
def test_in_a_chroot_nothing_is_started_although_systemd_runs_outside(tmp_path: Path) -> None:
    """``/run`` of the machine is often mounted there, so that it looks as if systemd ran."""
    os.makedirs(offline.BOOTED, exist_ok=True)
    assert not offline.is_offline()
    root = tmp_path / "root"
    (tmp_path / "layers").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", tmp_path / "layers"], check=True)
    for name in ("upper", "work"):
        (tmp_path / "layers" / name).mkdir()
    root.mkdir()
    layers = f"lowerdir=/,upperdir={tmp_path}/layers/upper,workdir={tmp_path}/layers/work"
    made = subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, root], check=False)
    if made.returncode:
        pytest.skip("no overlay file system to be had here")
    for place in ("dev", "etc", "run", "tmp"):
        subprocess.run(["mount", "--rbind", f"/{place}", root / place], check=True)

    def work() -> None:
        os.chroot(root)
        os.chdir("/")
        bench = prepared(tmp_path)
        assert manager(bench.context()).kind == "offline"
        bench.change("running", "t-web", enable=True)
        assert links() == {"multi-user.target.wants/t-web.service"}

    below_a_first_process(root, work)


def below_a_first_process(root: Path, work: Callable[[], None]) -> None:
    """Work beside a process number one that can be looked at; where there is a namespace of processes."""
    if ctypes.CDLL(None).unshare(0x20000000):
        pytest.skip("no namespace of processes to be had here")

    def first() -> None:
        for place in ("/proc", f"{root}/proc"):
            subprocess.run(["mount", "-t", "proc", "proc", place], check=True)
        in_child(work)

    in_child(first)


def in_child(work: Callable[[], None]) -> None:
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_variable_of_systemd_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYSTEMD_OFFLINE", "1")
    monkeypatch.setattr(offline, "has", lambda _: True)
    assert offline.is_offline()


def test_without_systemctl_init_scripts_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "has", lambda _: False)
    assert not offline.is_offline()
