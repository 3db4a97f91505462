"""``mount``: tmpfs and bind mounts for real, in a scratch directory and with an fstab of their own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost, needs_root

from saltern.language.result import Outcome
from saltern.modules.functions import mount as mount_functions
from saltern.modules.lib.tables import mounts
from saltern.modules.states import mount
from saltern.system.process import Ran

FSTAB = "# a remark\n/dev/sda1  /  ext4  errors=remount-ro 0 1\n/dev/sda2 none swap sw\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "fstab"
    file.write_text(FSTAB)
    return file


@pytest.fixture
def place(tmp_path: Path) -> Iterator[str]:
    place = str(tmp_path / "saltern-t mount")
    yield place
    while place.replace(" ", "\\040") in Path("/proc/self/mountinfo").read_text():
        subprocess.run(["umount", place], check=True)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, mount, functions={"mount": mount_functions})


@needs_root("mount")
def test_a_tmpfs_is_mounted_kept_and_remounted(bench: Bench, place: str, config: Path) -> None:
    args = {"device": "tmpfs", "fstype": "tmpfs", "mkmnt": True, "config": str(config)}
    done = bench.change("mounted", place, opts="size=1m,mode=0755,nosuid", **args)
    assert done.changes == {"mount": True, "persist": "new"}
    assert done.data["fstype"] == "tmpfs" and done.data["persisted"] is True
    assert config.read_text().startswith(FSTAB)
    assert "saltern-t\\040mount\t\ttmpfs\t\tsize=1m,mode=0755,nosuid\t\t0\t\t0\n" in config.read_text()
    done = bench.change("mounted", place, opts=["size=2048k", "mode=0755", "noexec"], **args)
    assert done.changes == {
        "umount": "Forced remount because options (size=2048k, noexec) changed",
        "persist": "update",
    }
    again = bench.react("mounted", place, opts=["noexec"], fstype="tmpfs")
    assert (again.outcome, again.changes) == (Outcome.OK, {"remount": True})
    foreseen = bench.react("mounted", place, test=True, opts=["noexec"], fstype="tmpfs")
    assert foreseen.changes == {"remount": True}
    done = bench.change("unmounted", place, config=str(config), persist=True)
    assert done.changes == {"umount": True, "persist": "purged"}
    assert config.read_text() == FSTAB


@needs_root("mount")
def test_a_directory_is_bound_and_another_one_replaces_it(bench: Bench, place: str, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    args = {"fstype": "none", "opts": "bind", "persist": False, "mkmnt": True}
    assert bench.change("mounted", place, device=str(one), **args).changes == {"mount": True}
    done = bench.change("mounted", place, device=str(two), **args)
    assert done.changes["mount"] is True and "devices don't match" in str(done.changes["umount"])
    bench.same("unmounted", place, device="/dev/other")


@needs_root("mount")
def test_only_the_entry_or_only_the_mount(bench: Bench, place: str, config: Path) -> None:
    args = {"device": "tmpfs", "fstype": "tmpfs", "mkmnt": True, "config": str(config)}
    assert bench.change("mounted", place, mount=False, **args).changes == {"persist": "new"}
    assert bench.change("mounted", place, persist=False, **args).changes == {"mount": True}
    assert bench.change("unmounted", place, config=str(config)).changes == {"umount": True}


@needs_root("mount")
def test_what_mount_refuses_is_reported_without_its_options(bench: Bench, place: str, config: Path) -> None:
    comment = bench.refusal(
        "mounted",
        place,
        device="/dev/saltern-t-none",
        fstype="ext4",
        opts="password=sesame",
        mkmnt=True,
        config=str(config),
    )
    assert "/dev/saltern-t-none" in comment and "sesame" not in comment
    assert config.read_text() == FSTAB


def test_a_missing_directory_is_a_failure_but_not_in_a_test(bench: Bench, place: str) -> None:
    args = {"device": "tmpfs", "fstype": "tmpfs", "persist": False}
    assert "set mkmnt" in bench.refusal("mounted", place, **args)
    foreseen = bench.call("mounted", place, test=True, device="tmpfs", fstype="tmpfs", persist=False)
    assert foreseen.outcome is Outcome.WOULD_CHANGE
    assert "not an absolute path" in bench.refusal("mounted", "x", **args)
    assert "cannot react" in bench.react("unmounted", place).comment


def test_entries_come_change_and_go(bench: Bench, config: Path) -> None:
    args: dict[str, object] = {"fs_file": "/srv", "config": str(config)}
    kept = {**args, "mount": False}
    done = bench.change("fstab_present", "/dev/sdb1", fs_vfstype="xfs", **kept)
    assert done.changes == {"persist": "new"}
    assert done.data["device"] == "/dev/sdb1"
    done = bench.change("fstab_present", "/dev/sdb1", fs_vfstype="xfs", fs_mntops=["ro", "nodev"], **args)
    assert done.changes == {"persist": "change"}
    bench.same("fstab_present", "/dev/sdb1", fs_vfstype="ext4", not_change=True, **args)
    bench.change("fstab_present", "/dev/sdb2", fs_vfstype="xfs", match_on="device", **kept)
    bench.change("fstab_absent", "/dev/sdb2", **args)
    bench.change("fstab_absent", "/dev/sdb1", **args)
    assert config.read_text() == FSTAB
    assert "match_on cannot be" in bench.refusal(
        "fstab_present", "/dev/sdb1", fs_vfstype="xfs", match_on="luck", **args
    )


def test_the_entry_of_a_device_moves_with_it_and_that_of_a_directory_changes_its_device(
    bench: Bench, config: Path
) -> None:
    args: dict[str, object] = {"fs_vfstype": "ext4", "config": str(config), "mount": False}
    bench.change("fstab_present", "/dev/sdb1", fs_file="/srv", **args)
    moved = bench.change("fstab_present", "/dev/sdb1", fs_file="/data", **args)
    other = bench.change("fstab_present", "/dev/sdb9", fs_file="/data", **args)
    assert moved.changes == other.changes == {"persist": "change"}
    assert [line.split()[:2] for line in config.read_text().splitlines()[len(FSTAB.splitlines()) :]] == [
        ["/dev/sdb9", "/data"]
    ]


def test_an_entry_can_be_found_by_several_fields(bench: Bench, config: Path) -> None:
    args: dict[str, object] = {"config": str(config), "mount": False, "match_on": ["name", "device"]}
    bench.change("fstab_present", "/dev/sdb1", fs_file="/srv", fs_vfstype="ext4", **args)
    more = bench.change("fstab_present", "/dev/sdb2", fs_file="/srv", fs_vfstype="ext4", **args)
    assert more.changes == {"persist": "new"}
    changed = bench.change("fstab_present", "/dev/sdb2", fs_file="/srv", fs_vfstype="xfs", **args)
    assert changed.changes == {"persist": "change"}


@needs_root("mount")
def test_a_new_entry_is_mounted_once(bench: Bench, config: Path, place: str) -> None:
    Path(place).mkdir()
    args: dict[str, object] = {"fs_file": place, "fs_vfstype": "tmpfs", "config": str(config)}
    bench.change("fstab_present", "tmpfs", **args)
    assert Path(place).is_mount()
    bench.change("fstab_absent", "tmpfs", fs_file=place, config=str(config))
    bench.change("fstab_present", "tmpfs", **args)
    mounted = place.replace(" ", "\\040")
    assert Path("/proc/self/mountinfo").read_text().count(f" {mounted} ") == 1


def test_a_password_among_the_options_is_never_shown(bench: Bench, config: Path) -> None:
    args: dict[str, object] = {"fs_file": "/srv", "fs_vfstype": "cifs", "config": str(config), "mount": False}
    done = bench.change("fstab_present", "//host/share", fs_mntops="ro,password=sesame", **args)
    assert "sesame" not in repr(done) and "password=sesame" in config.read_text()


def test_a_device_can_be_written_by_its_uuid(tmp_path: Path, config: Path) -> None:
    """``blkid`` is played by a fake host."""
    host = ScriptedHost({"blkid -s UUID -o value -- /dev/sdb1": Ran(0, "aa-bb\n"), "blkid": Ran(0, "\n")})
    bench = Bench(tmp_path, mount, host=host)
    args: dict[str, object] = {"fs_file": "/srv", "fs_vfstype": "xfs", "config": str(config), "mount": False}
    assert bench.change("fstab_present", "/dev/sdb1", mount_by="uuid", **args).data["device"] == "UUID=aa-bb"
    assert "has no label" in bench.refusal("fstab_present", "/dev/sdb1", mount_by="label", **args)
    assert "mount_by cannot be" in bench.refusal("fstab_present", "/dev/sdb1", mount_by="name", **args)


def test_swap_is_switched_on(tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``swapon`` is played by a fake host, with /proc/swaps as the kernel writes it."""
    swaps = tmp_path / "swaps"
    swaps.write_text("Filename\t\t\tType\t\tSize\tUsed\tPriority\n")
    monkeypatch.setattr(mounts, "SWAPS", str(swaps))

    def switch_on(argv: list[str]) -> Ran:
        with swaps.open("a") as file:
            file.write(f"{argv[-1]} file 1024 0 -2\n")
        return Ran(0)

    bench = Bench(tmp_path, mount, host=ScriptedHost({"swapon": switch_on}))
    done = bench.change("swap", "/swapfile", config=str(config))
    assert done.changes == {"new": True, "persist": "new"}
    assert done.data["size"] == "1024"
    assert config.read_text().endswith("/swapfile\t\tnone\t\tswap\t\tdefaults\t\t0\t\t0\n")


@needs_root("mount")
def test_functions_look_and_mount(bench: Bench, place: str, config: Path) -> None:
    salt = bench.salt
    assert salt["mount.mount"](place, "tmpfs", mkmnt=True, fstype="tmpfs") is True
    assert salt["mount.is_mounted"](place) and place in salt["mount.active"]()  # type: ignore[operator]
    assert salt["mount.remount"](place, "tmpfs", opts="ro") is True
    assert salt["mount.umount"](place) is True
    assert "does not have anything" in str(salt["mount.umount"](place))
    assert salt["mount.set_fstab"]("/x", "/dev/x", "ext4", config=str(config)) == "new"
    assert salt["mount.set_fstab"]("/x", "/dev/x", "ext4", config=str(config)) == "present"
    assert "/x" in salt["mount.fstab"](str(config))  # type: ignore[operator]
    assert salt["mount.rm_fstab"]("/x", "/dev/x", config=str(config))
    assert config.read_text() == FSTAB
