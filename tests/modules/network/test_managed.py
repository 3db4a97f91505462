"""``network.managed`` with Debian's ifupdown, in a network namespace with veth pairs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.modules.apart import apart
from tests.modules.bench import Bench, ScriptedHost, needs_root

from saltern.modules.functions import ip as ip_functions
from saltern.modules.lib.networking import ifupdown
from saltern.modules.states import network
from saltern.system.process import Ran

NIC = "saltern-t0"
STATIC: dict[str, object] = {"proto": "static", "ipaddr": "10.77.0.5", "netmask": "255.255.255.0"}
INTERFACES = (
    "# a remark\nauto lo other\niface lo inet loopback\n\n# of somebody else\niface other inet manual\n"
)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, network, functions={"ip": ip_functions})


def cable() -> None:
    """Two interfaces with a cable between them; the system's own file."""
    subprocess.run(["ip", "link", "add", NIC, "type", "veth", "peer", "name", "saltern-t1"], check=True)
    subprocess.run(["ip", "link", "set", "saltern-t1", "up"], check=True)
    Path("/etc/network").mkdir(exist_ok=True)
    Path("/run/network").mkdir(exist_ok=True)
    Path("/etc/network/interfaces").write_text(INTERFACES)


def addresses(name: str) -> list[str]:
    told = subprocess.run(["ip", "-j", "address", "show", name], capture_output=True, text=True, check=True)
    return [f"{one['local']}/{one['prefixlen']}" for one in json.loads(told.stdout)[0]["addr_info"]]


@needs_root("ifup", "ip")
@apart
def test_an_interface_is_added_changed_and_taken_down(bench: Bench) -> None:
    cable()
    done = bench.change("managed", NIC, **STATIC)
    assert done.changes == {
        "interface": "Added network interface.",
        "status": f"Interface {NIC} is up",
    }
    assert "10.77.0.5/24" in addresses(NIC)
    text = Path("/etc/network/interfaces").read_text()
    assert text.startswith(INTERFACES)
    assert text.endswith(
        f"\nauto {NIC}\niface {NIC} inet static\n    address 10.77.0.5\n    netmask 255.255.255.0\n"
    )
    done = bench.change("managed", NIC, **{**STATIC, "ipaddr": "10.77.0.6"}, mtu=1400)
    assert "-    address 10.77.0.5" in str(done.changes["interface"])
    assert done.changes["status"] == f"Interface {NIC} restart to validate"
    assert [one for one in addresses(NIC) if one.startswith("10.")] == ["10.77.0.6/24"]
    assert done.data["mtu"] == 1400
    done = bench.change("managed", NIC, enabled=False, **{**STATIC, "ipaddr": "10.77.0.6"}, mtu=1400)
    assert done.changes["status"] == f"Interface {NIC} down"
    assert done.data["up"] is False
    assert f"auto {NIC}" not in Path("/etc/network/interfaces").read_text()


@needs_root("ifup", "ip")
@apart
def test_ipv6_and_shared_settings_have_a_stanza_of_their_own(bench: Bench) -> None:
    cable()
    args = {"ipv6proto": "static", "ipv6addr": "2001:db8:77::3", "ipv6netmask": 64, "mtu": 1400}
    bench.change("managed", NIC, **STATIC, **args, enable_ipv6=True, accept_ra=0)
    assert {"10.77.0.5/24", "2001:db8:77::3/64"} <= set(addresses(NIC))
    lines = bench.salt["ip.get_interface"](NIC)
    assert isinstance(lines, list) and f"iface {NIC} inet6 static\n" in lines
    assert lines.count("    mtu 1400\n") == 2


@needs_root("ifup", "ip", "brctl")
@apart
def test_a_bridge_is_made_with_its_ports(bench: Bench) -> None:
    cable()
    args = {"type": "bridge", "ports": [NIC], "stp": False, "fd": 0, "proto": "static"}
    done = bench.change("managed", "saltern-tbr", **args, ipaddr="10.77.1.1", netmask="24")
    assert done.data["up"] is True
    told = subprocess.run(["ip", "-o", "link", "show", NIC], capture_output=True, text=True, check=True)
    assert "master saltern-tbr" in told.stdout


@needs_root("ifup", "ip")
@apart
def test_it_stays_in_the_file_that_has_it_and_may_be_only_written(bench: Bench) -> None:
    cable()
    main, own = Path("/etc/network/interfaces"), Path("/etc/network/interfaces.d/saltern-t")
    main.write_text("source interfaces.d/*\n")
    own.parent.mkdir(exist_ok=True)
    own.write_text(f"auto {NIC}\niface {NIC} inet dhcp # as it was\n\niface other inet manual\n")
    done = bench.change("managed", NIC, **STATIC, noifupdown=True)
    assert list(done.changes) == ["interface"]
    assert own.read_text().startswith(f"auto {NIC}\niface {NIC} inet static\n")
    assert "iface other" in own.read_text() and main.read_text() == "source interfaces.d/*\n"
    bench.change("managed", NIC, proto="dhcp", filename="saltern-t2", noifupdown=True)
    assert NIC not in own.read_text() and NIC in Path("/etc/network/interfaces.d/saltern-t2").read_text()
    bench.change("managed", "more", type="source", source="/etc/network/more/*")
    assert main.read_text() == "source interfaces.d/*\nsource /etc/network/more/*\n"


@needs_root("ifup", "ip")
@apart
def test_what_ifup_refuses_is_reported(bench: Bench) -> None:
    cable()
    result = bench.call("managed", "saltern-tno", proto="static", ipaddr="10.77.0.5", netmask="24")
    assert "saltern-tno" in result.comment and "ifup" in result.comment
    assert "status" not in result.changes


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    main = tmp_path / "interfaces"
    monkeypatch.setattr(ifupdown, "INTERFACES", str(main))
    monkeypatch.setattr(ifupdown, "MORE", str(tmp_path))
    return main


@pytest.fixture
def written(tmp_path: Path, files: Path) -> Bench:
    """A machine without the interfaces that are set up; ``ip`` tells of none."""
    return Bench(tmp_path, network, functions={"ip": ip_functions}, host=ScriptedHost({"ip": Ran(0, "[]")}))


def test_a_bond_and_its_slaves_are_written(written: Bench, files: Path) -> None:
    """The kernel of the test machine may have no bonds, so only the files are looked at."""
    args: dict[str, object] = {"type": "bond", "slaves": "eth1 eth2", "mode": "802.3ad", "noifupdown": True}
    written.change(
        "managed", "bond0", **args, lacp_rate="fast", proto="dhcp", **{"hashing-algorithm": "layer2+3"}
    )
    text = files.read_text()
    for line in (
        "bond-mode 4",
        "bond-slaves eth1 eth2",
        "bond-lacp_rate 1",
        "bond-miimon 100",
        "bond-xmit_hash_policy layer2+3",
    ):
        assert f"    {line}\n" in text
    written.change("managed", "eth1", type="slave", master="bond0")
    assert "iface eth1 inet manual\n    bond-master bond0\n" in files.read_text()


def test_a_vlan_names_its_device_and_commands_stand_one_per_line(written: Bench, files: Path) -> None:
    args: dict[str, object] = {"type": "vlan", "proto": "static", "ipaddr": "10.0.0.1", "noifupdown": True}
    written.change(
        "managed", "eth0.10", **args, up_cmds=["one", "two words"], ipaddrs=["10.0.0.2/24"], rx=False
    )
    assert files.read_text() == (
        "auto eth0.10\niface eth0.10 inet static\n    vlan-raw-device eth0\n    address 10.0.0.1\n"
        "    address 10.0.0.2/24\n    up one\n    up two words\n    offload-rx off\n"
    )


def test_a_secret_is_written_and_never_shown(written: Bench, files: Path) -> None:
    args: dict[str, object] = {"proto": "dhcp", "wpa_ssid": "here", "noifupdown": True}
    done = written.change("managed", "wlan0", **args, wpa_psk="sesame1")
    assert "wpa-psk sesame1" in files.read_text() and "sesame" not in repr(done)
    done = written.change("managed", "wlan0", **args, wpa_psk="sesame2")
    assert done.changes["interface"] == "a secret changed (***)" and "sesame" not in repr(done)


def test_an_old_name_of_a_setting_is_taken_with_a_warning(written: Bench, files: Path) -> None:
    result = written.call("managed", "eth0", proto="dhcp", noifupdown=True, addr="00:11:22:33:44:55")
    assert "rename it" in result.warnings[0] and "hwaddress 00:11" in files.read_text()


@pytest.mark.parametrize(
    ("name", "args", "word"),
    [
        ("eth0", {}, "no setting says how eth0 gets its address"),
        ("eth0\nauto x", {"proto": "dhcp"}, "cannot be the name of an interface"),
        ("../x", {"proto": "dhcp"}, "cannot be the name of an interface"),
        ("eth0", {"proto": "luck"}, "proto cannot be 'luck'"),
        ("eth0", {"proto": "static", "ipaddr": "10.0.0.999"}, "needs an IPv4 address"),
        ("eth0", {"proto": "static", "ipaddr": "10.0.0.9", "netmask": "255.0.255.0"}, "needs a netmask"),
        ("eth0", {"proto": "dhcp", "up_cmds": "a\nb"}, "must not contain"),
        ("eth0", {"proto": "dhcp", "hwaddr": "x"}, "MAC address"),
        ("eth0", {"proto": "dhcp", "gatewy": "x"}, "did you mean 'gateway'"),
        ("eth0", {"proto": "dhcp", "duplex": "most"}, "duplex cannot be 'most'"),
        ("eth0", {"ipv6proto": "static", "ipv6addr": "10.0.0.1"}, "needs an IPv6 address"),
        ("br0", {"type": "bridge"}, "needs ports"),
        ("bond0", {"type": "bond", "slaves": "eth1"}, "needs a mode"),
        ("bond0", {"type": "bond", "slaves": "eth1", "mode": 9}, "mode cannot be"),
        ("bond0", {"type": "bond", "slaves": "eth1", "mode": 1, "miimon": "often"}, "miimon needs a number"),
        ("bond0", {"type": "bond", "slaves": "eth1", "mode": 0, "arp_ip_target": "x"}, "arp_ip_target"),
        ("eth0", {"type": "slave"}, "needs master"),
        ("ppp0", {"type": "pppoe"}, "type cannot be 'pppoe'"),
    ],
)
def test_bad_settings_are_reported_and_nothing_is_written(
    written: Bench, files: Path, name: str, args: dict[str, object], word: str
) -> None:
    assert word in written.refusal("managed", name, **args)
    assert not files.exists()


def test_a_system_whose_files_are_not_known_says_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path, network, grains={"os_family": "Suse"})
    assert "not for Suse" in bench.refusal("managed", "eth0", proto="dhcp")


def test_the_functions_tell_and_write_the_same(written: Bench, files: Path) -> None:
    told = written.salt["ip.build_interface"]("eth0", "eth", True, test=True, proto="dhcp", metric=5)
    assert told == ["auto eth0\n", "iface eth0 inet dhcp\n", "    metric 5\n"] and not files.exists()
    assert written.salt["ip.build_interface"]("eth0", "eth", True, proto="dhcp", metric=5) == told
    assert written.salt["ip.get_interface"]("eth0") == told
    assert written.salt["ip.up"]("eth1", "slave") is None
