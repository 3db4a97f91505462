"""``lvm`` on loop devices, with Debian's lvm2 and a configuration of its own.

Where the kernel has no device mapper, LVM is told to keep to its own records on the disks: physical volumes,
groups and plain logical volumes are then as real as ever, only no device appears for them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost, alone, needs_root

from saltern.language.result import Outcome
from saltern.modules.functions import lvm as lvm_functions
from saltern.modules.lib.volumes.sizes import in_bytes
from saltern.modules.states import lvm
from saltern.system.process import Ran

GROUP = "saltern-t-vg"
CONFIG = """
devices {{ use_devicesfile=0 scan="/dev" global_filter=[{accepted}, "r|.*|"] }}
global {{ activation={mapper} use_lvmpolld=0 locking_dir="{base}/lock" }}
activation {{ udev_sync=0 udev_rules=0 monitoring=0 }}
backup {{ backup_dir="{base}/backup" archive_dir="{base}/archive" }}
"""


def _mapper() -> int:
    return int("device-mapper" in Path("/proc/misc").read_text())


@pytest.fixture
def disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Three loop devices of 64 MiB that LVM sees, and it sees nothing else."""
    devices: list[str] = []
    with alone():
        try:
            for name in "abc":
                file = tmp_path / name
                with file.open("wb") as opened:
                    opened.truncate(64 << 20)
                made = subprocess.run(
                    ["losetup", "--find", "--show", file], capture_output=True, text=True, check=False
                )
                if made.returncode:
                    pytest.skip(f"no loop device to be had: {made.stderr.strip()}")
                devices.append(made.stdout.strip())
            accepted = ", ".join(f'"a|^{device}$|"' for device in devices)
            config = CONFIG.format(accepted=accepted, mapper=_mapper(), base=tmp_path)
            (tmp_path / "lvm.conf").write_text(config)
            monkeypatch.setenv("LVM_SYSTEM_DIR", str(tmp_path))
            yield devices
        finally:
            if devices and _mapper():
                subprocess.run(["vgchange", "-an", GROUP], capture_output=True, check=False)
            for device in devices:
                subprocess.run(["losetup", "--detach", device], check=True)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, lvm, functions={"lvm": lvm_functions})


@needs_root("pvs", "losetup")
def test_a_physical_volume_comes_and_goes(bench: Bench, disks: list[str]) -> None:
    done = bench.change("pv_present", disks[0], metadatasize="2M")
    assert done.changes == {"created": True}
    assert done.data["exists"] is True and done.data["group"] is None
    told = bench.salt["lvm.pvdisplay"](disks[0])
    assert isinstance(told, dict) and told[disks[0]]["Physical Volume Size (kB)"] == "131072"
    assert "override is false" in bench.refusal("pv_present", disks[0], override=False)
    assert bench.change("pv_absent", disks[0]).changes == {"removed": True}
    assert bench.salt["lvm.pvdisplay"](disks[0]) == {}


@needs_root("pvs", "losetup")
def test_a_file_system_is_lost_only_where_force_says_so(bench: Bench, disks: list[str]) -> None:
    subprocess.run(["mkfs.ext4", "-q", disks[0]], check=True)
    assert bench.refusal("pv_present", disks[0], force=False)
    assert bench.change("pv_present", disks[0]).changes == {"created": True}


@needs_root("pvs", "losetup")
def test_a_group_is_made_extended_and_removed(bench: Bench, disks: list[str]) -> None:
    done = bench.change("vg_present", GROUP, devices=disks[0], physicalextentsize="1M")
    assert done.changes == {
        "created": {"Output from vgcreate": f'Volume group "{GROUP}" successfully created'}
    }
    assert (done.data["devices"], done.data["extent_size"]) == ([disks[0]], 1 << 20)
    bench.change("pv_present", disks[1])
    done = bench.change("vg_present", GROUP, devices=f"{disks[0]},{disks[1]}")
    assert done.changes == {disks[1]: f"added to {GROUP}"}
    bench.same("vg_present", GROUP)
    assert GROUP in bench.refusal("pv_absent", disks[1])
    assert f"is part of {GROUP}" in bench.refusal("vg_present", "saltern-t-other", devices=disks[:1])
    done = bench.change("vg_absent", GROUP)
    assert done.changes == {"removed": f'Volume group "{GROUP}" successfully removed'}


@needs_root("pvs", "losetup")
def test_a_volume_is_made_grown_shrunk_and_removed(bench: Bench, disks: list[str]) -> None:
    bench.change("vg_present", GROUP, devices=disks[:1])
    done = bench.change("lv_present", "www", vgname=GROUP, size="9M", zero="n")
    assert done.changes == {"created": {"Output from lvcreate": 'Logical volume "www" created.'}}
    assert done.data["size"] == 12 << 20, "LVM rounds up, and that is no difference"
    done = bench.change("lv_present", "www", vgname=GROUP, size="20M")
    sign = f'Logical volume "/dev/{GROUP}/www" successfully resized.'
    assert done.changes == {"resized": {"Output from lvresize": sign}}
    assert done.comment == "Resized Logical Volume www"
    assert "set force" in bench.refusal("lv_present", "www", vgname=GROUP, size="8M")
    assert bench.change("lv_present", "www", vgname=GROUP, extents="3", force=True).data["size"] == 12 << 20
    bench.same("lv_present", "www", vgname=GROUP, extents="100%FREE")
    bench.change("lv_present", "rest", vgname=GROUP, extents="100%FREE", pv=disks[0], zero=False)
    assert "insufficient free" in bench.refusal("lv_present", "more", vgname=GROUP, size="1G").lower()
    done = bench.change("lv_absent", "www", vgname=GROUP)
    assert done.changes == {"removed": 'Logical volume "www" successfully removed'}
    bench.change("vg_absent", GROUP)


@needs_root("pvs", "losetup")
def test_what_is_reported_is_what_lvm_prints_for_programs(bench: Bench, disks: list[str]) -> None:
    bench.change("vg_present", GROUP, devices=disks[:2])
    bench.change("lv_present", "www", vgname=GROUP, size="12M")
    for program, function in (("pvdisplay", "pvdisplay"), ("vgdisplay", "vgdisplay"), ("lvdisplay",) * 2):
        printed = subprocess.run([program, "-c"], capture_output=True, text=True, check=True).stdout
        told = bench.salt[f"lvm.{function}"]()
        assert isinstance(told, dict) and told
        rows = [line.strip().split(":") for line in printed.splitlines() if ":" in line]
        for row in rows:
            assert list(told[row[0]].values()) == row[: len(told[row[0]])]


@needs_root("pvs", "losetup")
def test_the_functions_do_it_by_hand(bench: Bench, disks: list[str]) -> None:
    salt = bench.salt
    assert salt["lvm.pvcreate"](",".join(disks[:2])) is True
    assert salt["lvm.pvcreate"](disks[0]) is True, "already one"
    assert "already" in str(salt["lvm.pvcreate"](disks[0], override=False))
    assert salt["lvm.pvcreate"]("/dev/saltern-t-none") == "/dev/saltern-t-none does not exist"
    assert salt["lvm.pvresize"](disks[0]) is True
    made = salt["lvm.vgcreate"](GROUP, disks[0])
    assert isinstance(made, dict) and made[GROUP]["Current Physical Volumes"] == "1"
    assert made["Output from vgcreate"] == f'Volume group "{GROUP}" successfully created'
    salt["lvm.vgextend"](GROUP, disks[1])
    made = salt["lvm.lvcreate"]("www", GROUP, size="12M", zero="n")
    assert isinstance(made, dict) and made[f"/dev/{GROUP}/www"]["Logical Volume Size"] == "24576"
    path = f"/dev/{GROUP}/www"
    grown = salt["lvm.lvextend"]("+4M", path)
    assert grown == {"Output from lvextend": f'Logical volume "{path}" successfully extended.'}
    assert salt["lvm.lvresize"]("8M", path, force=True) == {
        "Output from lvresize": f'Logical volume "{path}" successfully resized.'
    }
    assert "not both" in str(salt["lvm.lvresize"]("8M", path, extents=3))
    assert salt["lvm.lvremove"]("www", GROUP) == 'Logical volume "www" successfully removed'
    assert "successfully removed" in str(salt["lvm.vgremove"](GROUP))
    assert salt["lvm.pvremove"](disks[:2]) is True
    assert salt["lvm.pvremove"](disks[0], override=False) == f"{disks[0]} is not a physical volume"
    assert "2." in str(salt["lvm.version"]())


@pytest.mark.parametrize(
    ("fun", "name", "args", "word"),
    [
        ("pv_present", "sdb1", {}, "must be a path"),
        ("pv_present", "/dev/x", {"metadatasiz": 1}, "did you mean 'metadatasize'"),
        ("vg_present", "a b", {"devices": "/dev/x"}, "needs a name"),
        ("vg_present", "--help", {"devices": "/dev/x"}, "needs a name"),
        ("lv_present", "x", {"vgname": "g", "size": "1G", "extents": 3}, "only one of"),
        ("lv_present", "x", {"vgname": "g", "siez": "1G"}, "did you mean 'size'"),
        ("lv_present", "x", {"vgname": "g", "size": "+1G"}, "size needs a number"),
        ("lv_present", "x", {"vgname": "g", "size": "0"}, "more than 0"),
        ("lv_present", "x", {"vgname": "g", "extents": "50%"}, "needs a share of something"),
        ("lv_present", "x", {"vgname": "g", "extents": "some"}, "extents needs"),
        ("lv_present", "x", {"vgname": "g/pool", "size": 1}, "vgname needs a name"),
        ("lv_present", "x", {"vgname": "g", "size": 1, "thinpool": True, "thinvolume": True}, "either"),
        ("lv_absent", "../x", {"vgname": "g"}, "needs a name"),
    ],
)
def test_bad_input_is_reported_before_anything_is_done(
    tmp_path: Path, fun: str, name: str, args: dict[str, object], word: str
) -> None:
    host = ScriptedHost({})
    assert word in Bench(tmp_path, lvm, host=host).refusal(fun, name, **args)
    assert host.asked == []


def test_a_machine_without_lvm_says_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path, lvm, host=ScriptedHost({}))
    assert "'vgs' is not on this machine" in bench.refusal("vg_absent", "data")


def test_sizes_are_those_of_lvm() -> None:
    sizes = {
        "10": 10 << 20,
        "1g": 1 << 30,
        "1.5G": 3 << 29,
        "2048s": 1 << 20,
        "1GB": 1 << 30,
        "1GiB": 1 << 30,
    }
    assert {text: in_bytes(text) for text in sizes} == sizes


POOL = (
    '{"lv_name":"pool","vg_name":"data","lv_path":"","lv_uuid":"u","lv_attr":"twi-a-tz--",'
    '"lv_size":"16777216","lv_layout":"thin,pool","lv_allocation_policy":"inherit","lv_read_ahead":"auto",'
    '"lv_kernel_major":"253","lv_kernel_minor":"2","origin":"","pool_lv":"","vg_extent_size":"4194304"}'
)


def _recorded(made: str) -> tuple[ScriptedHost, list[str]]:
    """A host where one volume appears once ``lvcreate`` is called; rows as lvm2 2.03.16 reports them."""
    rows: list[str] = []

    def create(argv: list[str]) -> Ran:
        rows.append(made)
        return Ran(0)

    def tell(argv: list[str]) -> Ran:
        return Ran(0, f'{{"report": [{{"lv": [{",".join(rows)}]}}]}}')

    return ScriptedHost({"lvs": tell, "lvcreate": create}), rows


def test_a_thin_pool_is_asked_for_with_its_own_options(tmp_path: Path) -> None:
    """Recorded: thin pools need a device mapper, which test machines may lack."""
    host, _ = _recorded(POOL)
    done = Bench(tmp_path, lvm, host=host).change("lv_present", "pool", vgname="data", size=16, thinpool=True)
    assert "lvcreate -qq --thinpool pool --size 16777216b data" in host.asked
    assert done.data["layout"] == "thin,pool"


def test_thin_volumes_and_snapshots_are_asked_for_as_lvm_wants_them(tmp_path: Path) -> None:
    """Recorded: both need a device mapper, which test machines may lack."""
    row = POOL.replace('"pool"', '"www"').replace('"pool_lv":""', '"pool_lv":"pool"')
    host, _ = _recorded(row.replace("16777216", "104857600"))
    bench = Bench(tmp_path, lvm, host=host)
    done = bench.change("lv_present", "www", vgname="data/pool", size="100M", thinvolume=True, force=True)
    assert "lvcreate --yes --thin --name www --virtualsize 104857600b data/pool" in host.asked
    assert done.data["pool"] == "pool"
    row = POOL.replace('"pool"', '"snap"').replace('"origin":""', '"origin":"www"')
    host, _ = _recorded(row)
    done = Bench(tmp_path, lvm, host=host).change(
        "lv_present", "www", vgname="data", snapshot="snap", size="16M"
    )
    assert "lvcreate -qq --name snap --size 16777216b --snapshot data/www" in host.asked
    assert (done.outcome, done.data["origin"]) == (Outcome.OK, "www")
