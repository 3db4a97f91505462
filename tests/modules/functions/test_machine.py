"""``status``, ``disk`` and other small functions that tell of this machine."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost
from tests.modules.conftest import MakeContext

from saltern.modules.api.params import BadArgument
from saltern.modules.states import test as any_state
from saltern.system.process import Ran

Call = Callable[..., object]


def test_the_kernel_is_read_as_salt_reads_it(salt: Call) -> None:
    cpu = salt("status.cpustats")
    assert isinstance(cpu, dict) and set(cpu["cpu"]) >= {"user", "idle", "iowait"}
    assert isinstance(cpu["intr"]["irqs"], list) and isinstance(cpu["cpu0"], int)
    info = salt("status.cpuinfo")
    assert isinstance(info, dict) and info["processor"] == str((os.cpu_count() or 1) - 1)
    network = salt("status.netdev")
    assert isinstance(network, dict) and network["lo"]["rx_bytes"] == network["lo"]["tx_bytes"]
    counted = salt("status.netstats")
    assert isinstance(counted, dict) and isinstance(counted["TcpExt"]["TW"], int)
    memory = salt("status.vmstats")
    assert isinstance(memory, dict) and isinstance(memory["nr_free_pages"], int)
    assert isinstance(salt("status.diskstats"), dict)
    assert str(salt("status.version")).startswith("Linux version ")


def wait_for_command_line(process: int) -> None:
    """Wait until the kernel has a command line for ``process``: it is empty while the program is loaded."""
    while not Path(f"/proc/{process}/cmdline").read_bytes():
        time.sleep(0.01)


def test_processes_have_a_user_and_a_command(salt: Call) -> None:
    with subprocess.Popen(["sleep", "37.125"]) as child:
        wait_for_command_line(child.pid)
        found = salt("status.procs")
        numbers = salt("status.pid", "sleep 37.125")
        child.kill()
    assert isinstance(found, dict) and found[str(child.pid)]["cmd"] == "sleep 37.125"
    assert str(numbers).split() == [str(child.pid)]


def test_the_room_on_disks_is_reported_in_bytes(salt: Call) -> None:
    told = salt("status.diskusage", "/", "/no/such")
    seen = os.statvfs("/")
    assert isinstance(told, dict) and list(told) == ["/"]
    assert told["/"]["total"] == seen.f_blocks * seen.f_frsize
    kinds = salt("status.diskusage", "tmpf?")
    assert isinstance(kinds, dict) and "/" not in kinds


def test_who_is_logged_in(tmp_path: Path) -> None:
    """Recorded: w of procps 4.0.2."""
    host = ScriptedHost({"w -fh": Ran(0, "ada      pts/0     09:27    1.00s  0.05s  0.01s vim a b\n")})
    told = Bench(tmp_path, any_state, host=host).salt["status.w"]()
    assert told == [
        {
            "user": "ada",
            "tty": "pts/0",
            "login": "09:27",
            "idle": "1.00s",
            "jcpu": "0.05s",
            "pcpu": "0.01s",
            "what": "vim a b",
        }
    ]


def test_the_configuration_chooses_of_what_is_counted(make_context: MakeContext) -> None:
    ctx = make_context(opts={"status.cpustats.custom": ["ctxt", "zork"], "status.zork.custom": ["x"]})
    told = ctx.functions["status.custom"]()
    assert isinstance(told, dict) and isinstance(told["ctxt"], int) and told["zork"] == "UNKNOWN"
    everything = ctx.functions["status.all_status"]()
    assert isinstance(everything, dict) and "uptime" in everything


def test_a_file_system_in_a_file_is_made_seen_and_wiped(salt: Call, tmp_path: Path) -> None:
    image = tmp_path / "disk"
    image.write_bytes(b"\0" * (4 << 20))
    assert salt("disk.fstype", str(image)) == ""
    assert salt("disk.format", str(image), "ext4", force=True) is True
    assert salt("disk.fstype", str(image)) == "ext4"
    told = salt("disk.blkid", str(image))
    assert isinstance(told, dict) and told[str(image)]["TYPE"] == "ext4" and told[str(image)]["UUID"]
    with image.open("ab") as file:
        file.truncate(8 << 20)
    assert salt("disk.resize2fs", str(image)) is True
    assert salt("disk.wipe", str(image)) is True
    assert salt("disk.blkid", str(image)) == {}
    assert salt("disk.dump", str(image)) is False
    assert salt("disk.get_fstype_from_path", "/proc") == "proc"


def test_a_block_device_is_tuned(tmp_path: Path) -> None:
    """Recorded: blockdev of util-linux 2.38, on a device of 4 MiB."""
    answers = "0\n8192\n512\n512\n512\n0\n0\n2560\n4194304\n1024\n256\n"
    host = ScriptedHost({"blockdev --get": Ran(0, answers), "blockdev --setra": Ran(0)})
    salt = Bench(tmp_path, any_state, host=host).salt
    assert salt["disk.tune"]("/dev/x", **{"read-ahead": 1024}) == {"getra": "1024"}
    assert host.asked[0] == "blockdev --setra 1024 /dev/x"
    with pytest.raises(BadArgument, match="did you mean"):
        salt["disk.tune"]("/dev/x", **{"read-ahed": 1024})
    with pytest.raises(BadArgument, match="only be set to true"):
        salt["disk.tune"]("/dev/x", **{"read-only": False})


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "why"),
    [
        ("disk.wipe", ("sda",), {}, "by its path"),
        ("disk.format", ("/dev/x", "ext4;reboot"), {}, "no file system"),
        ("disk.format", ("/dev/x", "vfat"), {"fat": 20}, "12, 16 or 32"),
        ("random.shadow_hash", ("a:b",), {}, "crypt_salt needs"),
        ("random.shadow_hash", (), {"algorithm": "rot13"}, "no password hash"),
    ],
)
def test_bad_input_is_reported(
    salt: Call, name: str, args: tuple[object, ...], kwargs: dict[str, object], why: str
) -> None:
    with pytest.raises(BadArgument, match=why):
        salt(name, *args, **kwargs)


def test_values_are_exchanged_and_kept_together(salt: Call) -> None:
    salt("data.update", "k", {"a": 1})
    assert (salt("data.keys"), salt("data.values")) == (["k"], [{"a": 1}])
    assert salt("data.cas", "k", 2, {"a": 1}) is True
    assert salt("data.cas", "k", 3, {"a": 1}) is False
    assert salt("data.cas", "other", 3, None) is False
    assert salt("data.load") == {"k": 2}
    assert salt("data.dump", {"z": 1}) is True
    assert salt("data.dump", "z") is False
    assert salt("data.items") == {"z": 1}


def test_a_password_is_hashed_as_shadow_has_it(salt: Call) -> None:
    expected = (
        "$6$saltsalt$pauPrmdmG4BTE9h2HPmywiw152IFch6BJCEsaY6D.PLTfpV8sqvXwWdyfsgVgozkYH9B80bAip/08R2BPH2xk/"
    )
    assert salt("random.shadow_hash", "saltsalt", "pw") == expected
    assert str(salt("random.shadow_hash", algorithm="sha256")).startswith("$5$")


def test_states_tell_of_themselves(salt: Call) -> None:
    assert salt("sys.list_state_modules", "time*") == ["timezone"]
    assert salt("sys.list_state_functions", "timezone") == ["timezone.system"]
    assert salt("sys.state_argspec", "timezone.system") == {
        "timezone.system": {"args": ["name", "utc"], "defaults": [True], "varargs": None, "kwargs": None}
    }
    told = salt("sys.state_doc", "timezone")
    assert isinstance(told, dict) and told["timezone.system"].startswith("Set the time zone")
    assert salt("sys.list_renderers", "j[is]*") == ["jinja", "json"]
    assert salt("sys.list_runners") == []
    assert salt("sys.list_returners") == []


def test_a_refresh_is_passed_on_once(make_context: MakeContext) -> None:
    ctx = make_context()
    asked: list[frozenset[str]] = []

    def refresh(what: frozenset[str]) -> None:
        asked.append(what)
        ctx.functions["saltutil.refresh_pillar"]()  # as a file of the pillar might

    ctx.run.refresh = refresh
    assert ctx.functions["saltutil.refresh_pillar"](wait=True) is True
    assert ctx.functions["saltutil.refresh_grains"]() is True
    assert asked == [frozenset({"pillar"}), frozenset({"grains"})]


def test_modules_of_ones_own_are_listed(salt: Call, tree: Callable[[str, str], str]) -> None:
    tree("_modules/mine.py", "")
    tree("_states/other.py", "")
    tree("web/init.sls", "")
    assert salt("saltutil.list_extmods") == {"modules": ["mine"], "states": ["other"]}
