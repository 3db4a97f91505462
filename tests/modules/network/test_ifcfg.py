"""``network`` with the files of Red Hat: written for real, ``ifup`` and ``ip`` played by a fake host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.modules.bench import Bench, ScriptedHost

from saltern.language.result import Outcome
from saltern.modules.functions import service as service_functions
from saltern.modules.lib.networking import ifcfg, providers
from saltern.modules.states import network
from saltern.system.process import Ran

# As iproute2 6.1 tells it, shortened to what is read.
LINK = '[{{"ifname":"eth0","flags":[{flags}],"mtu":1500,"address":"52:54:00:12:34:56","addr_info":[]}}]'
GRAINS = {"os_family": "RedHat", "os": "Rocky", "osmajorrelease": 9, "osrelease": "9.3"}


class Machine(ScriptedHost):
    """One interface, eth0, which ``ifup`` and ``ifdown`` move."""

    def __init__(self) -> None:
        self.up = False
        super().__init__({"ip -j address": self._tell, "ifup eth0": self._move, "ifdown eth0": self._move})

    def _tell(self, argv: list[str]) -> Ran:
        return Ran(0, LINK.format(flags='"UP"' if self.up else ""))

    def _move(self, argv: list[str]) -> Ran:
        self.up = argv[0] == "ifup"
        return Ran(0)


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(ifcfg, "SCRIPTS", str(tmp_path / "scripts"))
    monkeypatch.setattr(ifcfg, "NETWORK", str(tmp_path / "network"))
    return tmp_path / "scripts"


@pytest.fixture
def host() -> Machine:
    return Machine()


@pytest.fixture
def bench(tmp_path: Path, scripts: Path, host: Machine) -> Bench:
    return Bench(tmp_path, network, host=host, grains=GRAINS, functions={"service": service_functions})


def test_an_interface_is_written_and_brought_up(bench: Bench, scripts: Path, host: Machine) -> None:
    args = {"proto": "none", "ipaddr": "10.0.0.5", "netmask": "255.255.255.0", "gateway": "10.0.0.1"}
    done = bench.change("managed", "eth0", **args, dns=["10.0.0.53", "10.0.1.53"], mtu=1400)
    assert done.changes == {"interface": "Added network interface.", "status": "Interface eth0 is up"}
    assert (scripts / "ifcfg-eth0").read_text().splitlines() == [
        'DEVICE="eth0"',
        'HWADDR="52:54:00:12:34:56"',
        'USERCTL="no"',
        'TYPE="Ethernet"',
        'BOOTPROTO="none"',
        'ONBOOT="yes"',
        'IPADDR="10.0.0.5"',
        'NETMASK="255.255.255.0"',
        'GATEWAY="10.0.0.1"',
        'PEERDNS="yes"',
        'MTU="1400"',
        'NM_CONTROLLED="no"',
        'DNS1="10.0.0.53"',
        'DNS2="10.0.1.53"',
    ]
    done = bench.change("managed", "eth0", **{**args, "ipaddr": "10.0.0.6"})
    assert done.changes["status"] == "Interface eth0 restart to validate"
    assert [line for line in host.asked if line.startswith("if")][-2:] == ["ifdown eth0", "ifup eth0"]
    done = bench.change("managed", "eth0", enabled=False, **args)
    assert done.changes["status"] == "Interface eth0 down"


def test_the_other_kinds_have_their_own_lines(bench: Bench, scripts: Path) -> None:
    kinds: dict[str, tuple[dict[str, object], str]] = {
        "bond0": ({"type": "bond", "mode": 1, "miimon": 50}, 'BONDING_OPTS="mode=1 miimon=50'),
        "eth1": ({"type": "slave", "master": "bond0"}, 'SLAVE="yes"'),
        "eth0.10": ({"type": "vlan", "vlan_id": 10, "phys_dev": "eth0"}, 'VID="10"\nPHYSDEV="eth0"'),
        "br0": ({"type": "bridge", "stp": True, "delay": 0}, 'STP="yes"\nDELAY="0"'),
        "team0": ({"type": "team", "team_config": {"runner": {"name": "lacp"}}}, "TEAM_CONFIG='{\"runner\""),
        "eth2": ({"type": "teamport", "master": "team0"}, 'TEAM_MASTER="team0"'),
        "eth3": ({"ipaddrs": ["10.0.0.8/24", "10.0.0.9/24"]}, 'IPADDR2="10.0.0.9"\nPREFIX2="24"'),
        "eth4": ({"enable_ipv6": True, "ipv6addr": "2001:db8::1/64"}, 'IPV6INIT="yes"\nIPV6ADDR="2001:db8:'),
        "eth6": ({"advertise": 0x20, "channels": {"rx": 2, "tx": 4}, "gro": False},
                 'ETHTOOL_OPTS="advertise 0x020 -L eth6 rx 2 tx 4 gro off"'),
        "eth5": ({"autoneg": True, "speed": 1000}, 'ETHTOOL_OPTS="autoneg on speed 1000"'),
    }  # fmt: skip
    for name, (args, text) in kinds.items():
        bench.change("managed", name, noifupdown=True, **args)
        assert text in (scripts / f"ifcfg-{name}").read_text()


def test_a_range_of_addresses_restarts_the_network(bench: Bench, scripts: Path, host: Machine) -> None:
    """``systemctl`` is played, too."""
    done = bench.call("managed", "eth0-range0", test=True, ipaddr_start="10.0.0.5", ipaddr_end="10.0.0.9")
    assert done.changes["status"] == "network restarted for change of ranged interfaces"


def test_routes_of_both_families_have_a_file_each(bench: Bench, scripts: Path, host: Machine) -> None:
    scripts.mkdir()
    far = {"name": "far", "ipaddr": "10.9.0.0", "netmask": "255.255.0.0", "gateway": "10.0.0.1", "metric": 5}
    bench.change("routes", "eth0", routes=[far, {"ipaddr": "2001:db8:9::/64"}])
    assert (scripts / "route-eth0").read_text() == "# far\n10.9.0.0/16 via 10.0.0.1 metric 5\n"
    assert (scripts / "route6-eth0").read_text() == "2001:db8:9::/64 dev eth0\n"


def test_settings_of_the_machine_are_replaced_or_kept(bench: Bench, scripts: Path, tmp_path: Path) -> None:
    kept = tmp_path / "network"
    args: dict[str, object] = {"require_reboot": True, "hostname": "web1.example.org"}
    done = bench.change("system", "x", enabled=True, **args, gateway="10.0.0.1", nozeroconf=True)
    assert done.changes == {"network_settings": "Added global network settings."}
    assert kept.read_text() == (
        "NETWORKING=yes\nHOSTNAME=web1.example.org\nGATEWAY=10.0.0.1\nNOZEROCONF=yes\n"
    )
    bench.change("system", "x", **args, gatewaydev="eth0", retain_settings=True)
    assert "GATEWAY=10.0.0.1\nGATEWAYDEV=eth0\n" in kept.read_text()
    bench.change("system", "x", **args)
    assert kept.read_text() == "NETWORKING=yes\nHOSTNAME=web1.example.org\n"


@pytest.mark.parametrize(
    ("args", "word"),
    [
        ({"type": "ppp"}, "type cannot be 'ppp'"),
        ({"prefix": 24, "netmask": "255.0.0.0"}, "together"),
        ({"hwaddr": "00:11:22:33:44:55", "macaddr": "00:11:22:33:44:55"}, "together"),
        ({"zone": "$(reboot)"}, "read by a shell"),
        ({"domain": 'a" b'}, "read by a shell"),
        ({"ipaddrs": ["10.0.0.1"]}, "with a prefix length"),
        ({"userctl": "perhaps"}, "userctl needs true or false"),
    ],
)
def test_bad_settings_are_reported(bench: Bench, scripts: Path, args: dict[str, object], word: str) -> None:
    assert word in bench.refusal("managed", "eth0", **args)
    assert not scripts.exists()


def test_a_setting_of_the_machine_cannot_break_out_of_its_file(bench: Bench, tmp_path: Path) -> None:
    assert "read by a shell" in bench.refusal("system", "x", gatewaydev="$(reboot)")
    assert not (tmp_path / "network").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [({"advertise": "all"}, "needs a hexadecimal number"), ({"channels": 4}, "channels needs a mapping")],
)
def test_settings_of_the_card_are_checked(
    bench: Bench, scripts: Path, given: dict[str, Any], said: str
) -> None:
    assert said in bench.call("managed", "eth0", noifupdown=True, **given).comment


def test_settings_of_other_systems_are_left(bench: Bench, scripts: Path) -> None:
    bench.change("managed", "eth0", noifupdown=True, nameservers=["10.0.0.1"], gvrp=True)
    assert "10.0.0.1" not in (scripts / "ifcfg-eth0").read_text()


@pytest.mark.parametrize(
    ("family", "program", "name"), [("Debian", "netplan", "netplan"), ("RedHat", "nmcli", "NetworkManager")]
)
def test_a_machine_that_reads_other_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str, program: str, name: str
) -> None:
    (tmp_path / program).write_text("#!/bin/sh\n")
    (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(providers.OTHERS, family, (name, program, str(tmp_path)))
    bench = Bench(tmp_path, network, grains={"os_family": family})
    refused = bench.call("managed", "eth0", noifupdown=True)
    assert refused.outcome is Outcome.FAILED
    assert f"is managed by {name}, whose files are not supported" in refused.comment
    (tmp_path / "ifup").write_text("#!/bin/sh\n")
    (tmp_path / "ifup").chmod(0o755)
    assert providers.kept_elsewhere(family) == ""
