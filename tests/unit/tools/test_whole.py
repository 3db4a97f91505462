"""What ``make test`` fetches is whole or not there, wherever the fetching breaks off, and is tried again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tools import salt, vm
from tools.whole import Unavailable, replaced

KERNEL = "linux-image-6.1.0-cloud"
# What the programs do that a fetch starts. A module is loaded by way of another one.
PROGRAMS = {
    "apt-cache": f'echo "linux-image-cloud-amd64"; echo "  Depends: {KERNEL}"',
    "apt-get": f'[ "$1" = -qq ] || exit 1; case "$*" in *download*) echo deb > {KERNEL}_1_amd64.deb ;; esac',
    "dpkg-deb": 'mkdir -p "$3/boot" "$3/lib"; echo kernel > "$3/boot/vmlinuz-6.1.0"; echo > "$3/lib/ring.ko";'
    ' for name in virtio_pci virtio_blk virtio_net; do echo m > "$3/lib/$name.ko"; done',
    "depmod": "true",
    "modprobe": 'echo "insmod $2/lib/ring.ko "; echo "insmod $2/lib/$6.ko "',
}
FAILURES = {
    **dict.fromkeys(PROGRAMS, "echo it is broken >&2; exit 1"),
    "apt-get that fetches nothing": "true",
    "dpkg-deb that finds no kernel": 'mkdir -p "$3/boot"',
    "modprobe that finds no module": "true",
}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """``programs(name, text)`` replaces one of them."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def write(name: str, text: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)

    for name, text in PROGRAMS.items():
        write(name, text)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    return write


def files(place: Path) -> list[str]:
    return sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file())


NAMES = ("00-ring", "01-virtio_pci", "02-virtio_blk", "03-virtio_net")
WHOLE = [".fetched", *(f"modules/{name}.ko" for name in NAMES), "vmlinuz"]


def test_a_kernel_is_fetched_with_its_modules(tmp_path: Path, programs: Callable[[str, str], None]) -> None:
    vm.fetch(tmp_path / "build" / "vm")
    assert files(tmp_path / "build") == [f"vm/{name}" for name in WHOLE]


@pytest.mark.parametrize("what", FAILURES)
def test_a_fetch_that_breaks_off_leaves_nothing_and_the_next_one_works(
    tmp_path: Path, programs: Callable[[str, str], None], what: str
) -> None:
    name = what.split()[0]
    programs(name, FAILURES[what])
    with pytest.raises(Unavailable):
        vm.fetch(tmp_path / "build" / "vm")
    assert files(tmp_path / "build") == []
    programs(name, PROGRAMS[name])
    vm.fetch(tmp_path / "build" / "vm")
    assert (tmp_path / "build/vm" / vm.STAMP).exists()


def test_the_message_is_what_the_program_said(
    tmp_path: Path, programs: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    programs("dpkg-deb", "echo the disk is full >&2; exit 2")
    with pytest.raises(Unavailable, match="dpkg-deb -x: the disk is full"):
        vm.fetch(tmp_path / "vm")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: only root fetches lists of packages")
def test_a_machine_without_lists_of_packages_fetches_them(
    tmp_path: Path, programs: Callable[[str, str], None]
) -> None:
    lists = tmp_path / "lists"
    programs("apt-cache", f"[ -e {lists} ] || exit 100; {PROGRAMS['apt-cache']}")
    programs("apt-get", f'case "$*" in *update*) touch {lists} ;; esac; {PROGRAMS["apt-get"]}')
    vm.fetch(tmp_path / "vm")
    assert files(tmp_path / "vm") == WHOLE


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: only root fetches lists of packages")
def test_lists_that_name_a_kernel_that_is_gone_are_fetched_again(
    tmp_path: Path, programs: Callable[[str, str], None]
) -> None:
    lists = tmp_path / "lists"
    gone = f'case "$*" in *download*) [ -e {lists} ] || {{ echo 404 not found >&2; exit 100; }} ;; esac'
    programs("apt-get", f'{gone}; case "$*" in *update*) touch {lists} ;; esac; {PROGRAMS["apt-get"]}')
    vm.fetch(tmp_path / "vm")
    assert files(tmp_path / "vm") == WHOLE


def test_an_older_one_stays_when_a_newer_cannot_be_made(tmp_path: Path) -> None:
    place = tmp_path / "thing"
    with replaced(place, ".done") as made:
        (made / "old").touch()
    with pytest.raises(RuntimeError), replaced(place, ".done") as made:
        (made / "half").touch()
        raise RuntimeError
    assert files(tmp_path) == ["thing/.done", "thing/old"]
    with replaced(place, ".done") as made:
        (made / "new").touch()
    assert files(tmp_path) == ["thing/.done", "thing/new"]


def test_what_a_killed_one_has_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".thing-x1").mkdir()
    (tmp_path / ".thing-x1" / "half").touch()
    with replaced(tmp_path / "thing", ".done"):
        pass
    assert files(tmp_path) == ["thing/.done"]


def test_salt_that_cannot_be_installed_leaves_no_stamp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(salt, "PLACE", tmp_path / "build" / "salt")
    monkeypatch.setattr(salt, "PIP", ("sh", "-c", 'mkdir -p "$5/salt"; exit 1', "pip"))
    assert salt.main() == 0
    assert "tests that need it are skipped" in capsys.readouterr().err
    assert list((tmp_path / "build").iterdir()) == []
