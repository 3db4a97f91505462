"""States and packages in a new snapshot of a real btrfs: applied by a saltern that has it as its root."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import json
from tests.barriers.disk import FIRST, Disk, in_use, needs_btrfs, run
from tests.barriers.test_snapshots import Transactional, put_tukit
from tests.e2e.command import Done
from tests.modules.bench import needs_root

import saltern
from saltern.chains.statuses import Leg
from saltern.modules.lib.boots import reboot_needed

# This program and its Python, at the same place in the snapshot as here.
SAME = tuple(Path(one) for one in dict.fromkeys((sys.base_prefix, sys.prefix)))
SOURCE = Path(saltern.__file__).parents[1]

WEB = """
/etc/web.conf:
  file.managed:
    - contents: "{{ pillar['port'] }} {{ salt['cmd.run']('cat /etc/release') }}"

after it:
  cmd.run:
    - name: cat /etc/web.conf
    - require:
      - file: /etc/web.conf
"""


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    monkeypatch.setattr(reboot_needed, "WITNESSES", (reboot_needed.waiting_snapshot,))
    (tmp_path / "states").mkdir()
    with in_use(Disk(tmp_path, (*SAME, SOURCE, tmp_path / "states", Path("/proc"), Path("/dev")))) as made:
        yield made


class WithFiles(Transactional):
    """A machine whose state files are beside its disk."""

    def __init__(self, disk: Disk, *actions: str, files: dict[str, str] | None = None) -> None:
        super().__init__(disk, *actions)
        self.roots = disk.var.parent / "states"
        for name, text in (files or {}).items():
            (self.roots / name).write_text(text)

    def start(self, *more: str) -> dict[str, dict[str, object]]:
        """Run the chain until it ends or waits for a boot; its actions, by their ids."""
        said = self.chain("run", str(self.file), "--file-root", str(self.roots), "--out", "json", *more)
        return rows(said)


def rows(said: Done) -> dict[str, dict[str, object]]:
    """What ``--out json`` tells of each action."""
    assert said.out, said.err
    (leg,) = json.decode(said.out).values()
    return {one["action"]: one for one in leg["steps"]}


@needs_btrfs
def test_state_files_are_applied_in_the_snapshot_and_are_there_after_the_boot(disk: Disk) -> None:
    bench = WithFiles(
        disk,
        "id: update, transaction: 'echo 2 > /etc/release'",
        "id: web, transaction: {{sls: web, pillar: {{port: 81}}}}",
        "id: reboot, reboot: {{when: needed}}",
        files={"web.sls": WEB},
    )
    bench.start()
    assert not (disk.root / "etc/web.conf").exists(), "the running system stays as it is"
    known = bench.to_the_end()
    assert known.state.status is Leg.SUCCEEDED, bench.comment("web")
    assert (disk.root / "etc/web.conf").read_text() == "81 2\n", "it is rendered in what it is applied to"
    assert bench.comment("web").splitlines()[1] == "2 states: 2 changed"


@needs_btrfs
def test_a_state_that_fails_drops_the_snapshot_and_names_itself(disk: Disk) -> None:
    bad = WEB + "\nbroken:\n  cmd.run:\n    - name: 'echo no room >&2; exit 3'\n"
    bench = WithFiles(
        disk, "id: web, transaction: {{sls: [web], pillar: {{port: 81}}}}", files={"web.sls": bad}
    )
    row = bench.start()["web"]
    assert (row["status"], row["changed"]) == ("failed", False), "what the dropped snapshot had is no change"
    assert disk.snapshots() == [FIRST]
    assert bench.comment("web").startswith("broken: exit code 3: no room\n"), "what matters comes first"
    assert "3 states: 1 failed, 2 changed" in bench.comment("web")
    assert "its snapshot was dropped, and nothing has changed" in bench.comment("web")


@needs_btrfs
def test_files_that_do_not_compile_say_so_and_leave_nothing(disk: Disk) -> None:
    bench = WithFiles(
        disk, "id: web, transaction: {{sls: web}}", files={"web.sls": "a: {file.managed: {}}\nb: []\n"}
    )
    assert bench.start()["web"]["status"] == "failed"
    assert "the states do not compile; nothing was run" in bench.comment("web") and disk.snapshots() == [
        FIRST
    ]


@needs_btrfs
def test_states_that_are_as_they_should_be_leave_no_snapshot(disk: Disk) -> None:
    same = "/etc/release:\n  file.managed:\n    - contents: '1'\n"
    bench = WithFiles(disk, "id: same, transaction: {{sls: same}}", files={"same.sls": same})
    row = bench.start()["same"]
    assert (row["status"], row["changed"], disk.snapshots()) == ("succeeded", False, [FIRST])
    assert bench.comment("same").startswith(
        "The transaction has changed nothing, and its snapshot was dropped"
    )


@needs_btrfs
def test_a_test_run_says_what_the_states_would_do_and_makes_no_snapshot(disk: Disk) -> None:
    bench = WithFiles(
        disk, "id: web, transaction: {{sls: web}}", files={"web.sls": "/etc/x: {file.touch: []}\n"}
    )
    said = bench.chain("run", str(bench.file), "--file-root", str(bench.roots), "--test", "--out", "json")
    row = rows(said)["web"]
    assert row["would"] == "change" and "would change 1 things" in str(row["comment"]), row
    assert disk.snapshots() == [FIRST]


@needs_btrfs
def test_a_transaction_within_a_transaction_and_a_reboot_in_it_are_refused(disk: Disk) -> None:
    inner = "echo: {system.transaction: []}\nboot: {system.reboot: [{only_on_pending_reboot: false}]}\n"
    bench = WithFiles(disk, "id: web, transaction: {{sls: web}}", files={"web.sls": inner})
    assert bench.start()["web"]["status"] == "failed"
    said = bench.comment("web").splitlines()
    assert "echo: a transaction cannot start within another one" in said
    assert "boot: a snapshot cannot be rebooted: put the state system.reboot after the transaction" in said
    assert disk.snapshots() == [FIRST] and not (disk.var / "asked").exists()


@needs_btrfs
def test_with_tukit_states_are_applied_by_a_call_of_it(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    put_tukit(disk, monkeypatch)
    bench = WithFiles(
        disk,
        "id: web, transaction: {{sls: web, pillar: {{port: 81}}}}",
        "id: reboot, reboot: {{when: needed}}",
        files={"web.sls": WEB},
    )
    bench.start()
    bench.to_the_end()
    assert bench.statuses() == {"web": "succeeded", "reboot": "succeeded"}, bench.comment("web")
    assert ((disk.root / "etc/web.conf").read_text(), disk.seam.booted_snapshot()) == (
        "81 1\n",
        ".snapshots/7/snapshot",
    )


# -- packages ----------------------------------------------------------------------------------------------

SPEC = """\
Name: {name}
Version: {version}
Release: 1
Summary: for tests
License: MIT
BuildArch: noarch
%description
for tests
%install
mkdir -p %{{buildroot}}/opt/{name}
echo {version} > %{{buildroot}}/opt/{name}/version
%files
/opt/{name}
"""
ETC = {
    "os-release": 'ID="opensuse-leap"\nNAME="openSUSE Leap"\nVERSION_ID="15.6"\n',
    "passwd": "root:x:0:0::/root:/bin/sh\n",
    "group": "root:x:0:\n",
    "rpm/macros": "%_dbpath /etc/rpmdb\n",
    "zypp/repos.d/shop.repo": "[shop]\nname=shop\nbaseurl=file:///var/shop\ngpgcheck=0\nenabled=1\n",
}
needs_zypper = needs_root("zypper", "rpm", "rpmbuild", "createrepo_c")


class Shop:
    """A machine with zypper, whose packages are known in its snapshots; packages lie in a directory."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        for name, text in ETC.items():
            file = disk.root / "etc" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (disk.root / "run").mkdir()
        run("chroot", str(disk.root), "rpm", "--initdb")

    def publish(self, version: str, name: str = "tool") -> None:
        place, shop = self.disk.var / "build", self.disk.var / "shop"
        place.mkdir(exist_ok=True)
        (place / "spec").write_text(SPEC.format(name=name, version=version))
        defined = {"_topdir": place, "_rpmdir": shop}
        words = [word for key, value in defined.items() for word in ("--define", f"{key} {value}")]
        run("rpmbuild", "-bb", *words, str(place / "spec"))
        run("createrepo_c", "-q", str(shop))

    def installed(self) -> str:
        """In the running system."""
        return run("chroot", str(self.disk.root), "rpm", "-qa", "--qf", "%{NAME}-%{VERSION}")


@needs_btrfs
@needs_zypper
def test_packages_come_are_updated_and_go_with_the_boots(disk: Disk) -> None:
    shop = Shop(disk)
    for version in ("1.0", "2.0"):
        shop.publish(version)
    shop.publish("1.0", "other")  # zypper cannot read a database without any package
    note = "command: 'chroot {base}/../root rpm -qa | sort | xargs echo is >> {base}/notes'"
    bench = WithFiles(
        disk,
        "id: add, transaction: {{install: {{tool: 1.0-1, other: null}}}}",
        f"id: before, {note}",
        "id: r1, reboot: {{when: needed}}",
        f"id: added, {note}",
        "id: patch, transaction: {{patch: true}}",
        "id: r2, reboot: {{when: needed}}",
        f"id: patched, {note}",
        "id: again, transaction: {{patch: true}}",
        "id: remove, transaction: {{remove: [tool]}}",
        "id: r3, reboot: {{when: needed}}",
        f"id: removed, {note}",
    )
    bench.start()
    known = bench.to_the_end()
    assert known.state.status is Leg.SUCCEEDED, [
        bench.comment(one) for one, how in bench.statuses().items() if how == "failed"
    ]
    other, tool = "other-1.0-1.noarch", "tool-{}-1.noarch"
    assert (disk.var / "notes").read_text().splitlines() == [
        "is", f"is {other} {tool.format('1.0')}", f"is {other} {tool.format('2.0')}", f"is {other}",
    ]  # fmt: skip
    assert not known.state.steps["again"].changed, "there was nothing left to update"
    assert bench.boots() == 4 and not (disk.root / "opt/tool").exists()


@needs_btrfs
@needs_zypper
def test_a_package_that_cannot_be_had_leaves_no_snapshot(disk: Disk) -> None:
    shop = Shop(disk)
    shop.publish("1.0")
    bench = WithFiles(disk, "id: add, transaction: {{install: [tool, none-such]}}")
    assert bench.start()["add"]["status"] == "failed"
    assert "none-such" in bench.comment("add") and disk.snapshots() == [FIRST]
    assert shop.installed() == ""
