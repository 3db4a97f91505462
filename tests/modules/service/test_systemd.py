"""``service`` with systemd.

No systemd runs where these tests run. The first half plays a small systemd through a fake host, with
output as ``systemctl show`` prints it; the second runs Debian's ``systemctl`` replacement, taken out of
its package without installing it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost, alone, needs_root

from saltern.language.result import Outcome
from saltern.modules.functions import service as service_functions
from saltern.modules.lib.services import providers
from saltern.modules.states import service
from saltern.system.process import Ran

SYSTEMD = {"providers": {"service": "systemd"}}


class Units:
    """One unit that behaves; ``values`` are what ``show`` prints."""

    def __init__(self, **values: str) -> None:
        self.values = {
            "Id": "web.service",
            "LoadState": "loaded",
            "ActiveState": "inactive",
            "SubState": "dead",
            "UnitFileState": "disabled",
            "NeedDaemonReload": "no",
            "Type": "simple",
            "Result": "success",
        } | values
        self.effects: dict[str, dict[str, str]] = {
            "start": {"ActiveState": "active", "SubState": "running"},
            "restart": {"ActiveState": "active", "SubState": "running"},
            "stop": {"ActiveState": "inactive", "SubState": "dead"},
            "enable": {"UnitFileState": "enabled"},
            "disable": {"UnitFileState": "disabled"},
            "mask": {"UnitFileState": "masked", "LoadState": "masked"},
            "unmask": {"UnitFileState": "disabled", "LoadState": "loaded"},
            "daemon-reload": {"NeedDaemonReload": "no"},
        }
        self.host = ScriptedHost({"systemctl": self.answer})

    def answer(self, argv: list[str]) -> Ran:
        if argv[1] == "show":
            return Ran(0, "".join(f"{key}={value}\n" for key, value in self.values.items()))
        self.values |= self.effects.get(argv[1], {})
        return Ran(0)

    def done(self) -> list[str]:
        return [line.removeprefix("systemctl ") for line in self.host.asked if " show " not in line]


def bench_of(tmp_path: Path, units: Units) -> Bench:
    return Bench(tmp_path, service, functions={"service": service_functions}, host=units.host, opts=SYSTEMD)


def test_a_unit_is_started_and_enabled(tmp_path: Path) -> None:
    units = Units()
    bench = bench_of(tmp_path, units)
    assert bench.change("running", "web", enable=True).data["provider"] == "systemd"
    assert units.done() == ["start web.service", "enable web.service"]
    bench.change("dead", "web.service", enable=False)
    assert units.done()[2:] == ["stop web.service", "disable web.service"]


def test_static_units_and_the_programs_of_units_are_listed(tmp_path: Path) -> None:
    units = Units(UnitFileState="static", ExecStart="{ path=/usr/sbin/web ; argv[]=/usr/sbin/web -D ; }")
    units.host.answers["systemctl list-unit-files"] = Ran(0, "web.service static -\n")
    salt = bench_of(tmp_path, units).salt
    assert salt["service.get_static"]() == ["web"]
    assert salt["service.execs"]() == {"web": "/usr/sbin/web"}
    assert salt["service.offline"]() is not os.path.isdir("/run/systemd/system")


def test_a_changed_unit_file_is_read_again_first(tmp_path: Path) -> None:
    units = Units(NeedDaemonReload="yes")
    bench_of(tmp_path, units).change("running", "web")
    assert units.done() == ["daemon-reload", "start web.service"]


def test_a_static_unit_is_neither_enabled_nor_disabled(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, Units(UnitFileState="static"))
    bench.same("enabled", "web")
    bench.same("disabled", "web")


def test_masks_come_and_go(tmp_path: Path) -> None:
    units = Units()
    bench = bench_of(tmp_path, units)
    assert bench.change("masked", "web").changes == {"masked": {"old": False, "new": True}}
    assert "set unmask" in bench.refusal("running", "web")
    bench.change("running", "web", unmask=True, enable=True)
    assert units.done() == [
        "mask web.service",
        "unmask web.service",
        "start web.service",
        "enable web.service",
    ]
    bench.call("masked", "web")
    assert bench.change("unmasked", "web").changes == {"masked": {"old": True, "new": False}}


def test_a_unit_that_does_not_stay_up_says_so(tmp_path: Path) -> None:
    units = Units(Type="oneshot")
    units.effects["start"] = {}
    comment = bench_of(tmp_path, units).refusal("running", "web")
    assert comment.startswith("Service web did not start: it is inactive (dead); it is a oneshot unit")


def test_one_that_takes_its_time_is_waited_for(tmp_path: Path) -> None:
    units = Units()
    units.effects["start"] = {"ActiveState": "activating", "SubState": "start"}
    bench = bench_of(tmp_path, units)
    clock = bench.run.clock

    def sleep(seconds: float) -> None:
        units.values |= {"ActiveState": "active", "SubState": "running"}

    clock.sleep = sleep  # type: ignore[method-assign]
    assert bench.call("running", "web").changes == {"web": True}


def test_without_blocking_it_is_not_looked_at_again(tmp_path: Path) -> None:
    units = Units()
    units.effects["start"] = {}
    result = bench_of(tmp_path, units).call("running", "web", no_block=True)
    assert (result.outcome, result.changes) == (Outcome.OK, {"web": True})
    assert units.done() == ["start --no-block web.service"]


def test_a_watched_change_restarts_the_unit(tmp_path: Path) -> None:
    units = Units(ActiveState="active")
    assert bench_of(tmp_path, units).react("running", "web").changes == {"web": True}
    assert units.done() == ["restart web.service"]


def test_what_systemctl_refuses_is_reported(tmp_path: Path) -> None:
    units = Units()
    bench = bench_of(tmp_path, units)
    units.host.answers["systemctl start"] = Ran(1, err="Job for web.service failed.\n")
    assert "Job for web.service failed." in bench.refusal("running", "web")
    assert "cannot be the name of a service" in bench.refusal("running", "--now")


def test_a_manager_nobody_knows_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, service, opts={"providers": {"service": "launchd"}})
    assert "there are systemd, openrc, sysv" in bench.refusal("running", "web")


def test_the_manager_is_chosen_once_per_run(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, Units())
    assert providers.manager(bench.context()) is providers.manager(bench.context())


# -- the replacement, for real ---------------------------------------------------------------------

UNIT = "/etc/systemd/system/saltern-t-unit.service"
PLACES = tuple(map(Path, ("/etc/systemd/system", "/var/log/journal", "/run/systemd")))
TEXT = """[Unit]
Description=a test of saltern
[Service]
ExecStart=/bin/sleep 4322
[Install]
WantedBy=multi-user.target
"""


@pytest.fixture(scope="session")
def replacement(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A directory with the program, or a skip where the package cannot be had."""
    place = tmp_path_factory.mktemp("systemctl")
    if os.geteuid() or shutil.which("apt-get") is None:
        pytest.skip("needs root and apt")
    place.chmod(0o777)
    got = subprocess.run(
        ["apt-get", "-qq", "download", "systemctl"], cwd=place, check=False, capture_output=True
    )
    packages = list(place.glob("*.deb"))
    if got.returncode or not packages:
        pytest.skip("the package systemctl cannot be had")
    subprocess.run(["dpkg", "-x", packages[0], place], check=True)
    return str(place / "usr" / "bin")


@pytest.fixture
def unit(replacement: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("PATH", f"{replacement}:{os.environ['PATH']}")
    with alone():
        made = [place for place in PLACES if not place.exists()]
        Path(UNIT).write_text(TEXT)
        try:
            yield "saltern-t-unit"
        finally:
            subprocess.run(["systemctl", "stop", "saltern-t-unit"], check=False, capture_output=True)
            for place in PLACES:
                for left in place.rglob("saltern-t-unit.service*"):
                    left.unlink()
            for place in made:
                place.rmdir()


@needs_root("dpkg")
def test_a_real_program_of_that_name_is_understood(tmp_path: Path, unit: str) -> None:
    bench = Bench(tmp_path, service, functions={"service": service_functions}, opts=SYSTEMD)
    bench.change("running", unit, enable=True)
    assert bench.react("running", unit).changes == {unit: True}
    assert bench.salt["service.status"](unit) is True
    bench.change("dead", unit, enable=False)
    assert "does not exist" in bench.refusal("running", "saltern-t-none")
