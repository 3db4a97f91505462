"""``network``: routes, connections and neighbours of this machine, and the tools that ask others."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.modules.apart import apart
from tests.modules.bench import Bench, ScriptedHost, needs_root

from saltern.modules.api.params import BadArgument
from saltern.modules.states import test as any_state
from saltern.system.process import Ran

Call = Callable[..., object]


def scripted(tmp_path: Path, answers: dict[str, Ran]) -> tuple[Bench, ScriptedHost]:
    host = ScriptedHost(dict(answers))
    return Bench(tmp_path, any_state, host=host), host


def test_a_port_that_listens_and_a_connection_to_it_are_seen(salt: Call) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as line, server.accept()[0]:
            rows = salt("network.netstat")
            standing = salt("network.active_tcp")
            mine = line.getsockname()[1]
    assert isinstance(rows, list) and isinstance(standing, dict)
    listening = next(row for row in rows if row["local-address"] == f"127.0.0.1:{port}")
    assert (listening["state"], listening["remote-address"]) == ("LISTEN", "0.0.0.0:*")
    assert listening["program"].startswith(f"{os.getpid()}/")
    assert {
        "local_addr": "127.0.0.1",
        "local_port": mine,
        "remote_addr": "127.0.0.1",
        "remote_port": port,
    } in standing.values()


def test_a_udp_socket_has_no_state(salt: Call) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind(("127.0.0.1", 0))
        rows = salt("network.netstat")
        port = line.getsockname()[1]
    assert isinstance(rows, list)
    assert "state" not in next(row for row in rows if row["local-address"] == f"127.0.0.1:{port}")


@needs_root("ip")
@apart
def test_routes_and_neighbours_are_those_of_the_kernel(salt: Call) -> None:
    for command in (
        "ip link add saltern-t0 type veth peer name saltern-t1",
        "ip address add 10.77.0.5/24 dev saltern-t0",
        "ip address add 10.77.0.6/24 dev saltern-t0",
        "ip link set saltern-t0 up",
        "ip route add default via 10.77.0.1",
        "ip route add 10.99.0.0/16 via 10.77.0.1",
        "ip neighbour add 10.77.0.9 lladdr 02:00:00:00:00:09 dev saltern-t0",
        "ip -6 neighbour add fe80::9 lladdr 02:00:00:00:00:0a dev saltern-t0",
    ):
        subprocess.run(command.split(), check=True)
    default = {
        "addr_family": "inet",
        "destination": "0.0.0.0",
        "gateway": "10.77.0.1",
        "netmask": "0.0.0.0",
        "flags": "UG",
        "interface": "saltern-t0",
    }
    assert salt("network.default_route", "inet") == [default]
    far = {**default, "destination": "10.99.0.0", "netmask": "255.255.0.0"}
    routes = salt("network.routes")
    assert isinstance(routes, list) and default in routes and far in routes
    assert any(row["addr_family"] == "inet6" and row["destination"] == "::1/128" for row in routes)
    assert salt("network.arp") == salt("network.ip_neighs") == {"02:00:00:00:00:09": "10.77.0.9"}
    assert salt("network.ip_neighs6") == {"02:00:00:00:00:0a": "fe80::9"}
    assert salt("network.get_route", "10.99.1.1") == {
        "destination": "10.99.1.1",
        "gateway": "10.77.0.1",
        "interface": "saltern-t0",
        "source": "10.77.0.5",
    }
    found = salt("network.interfaces")
    assert isinstance(found, dict)
    assert found["saltern-t1"]["up"] is False
    assert found["saltern-t0"]["secondary"][0]["address"] == "10.77.0.6"
    assert salt("network.ifacestartswith", "10.77") == ["saltern-t0"]
    assert salt("network.ip_networks", "saltern-t0") == ["10.77.0.0/24"]


def test_networks_are_reported_with_their_size(salt: Call) -> None:
    told = salt("network.ip_networks", "lo", include_loopback=True, verbose=True)
    assert told == {
        "127.0.0.0/8": {
            "address": "127.0.0.0",
            "netmask": "255.0.0.0",
            "num_addresses": 1 << 24,
            "prefixlen": 8,
        }
    }
    assert salt("network.iphexval", "10.0.0.1") == "0A000001"


@needs_root("hostname")
@apart
def test_the_machine_is_renamed(salt: Call) -> None:
    assert salt("network.mod_hostname", "saltern-t") is True
    assert (os.uname().nodename, Path("/etc/hostname").read_text()) == ("saltern-t", "saltern-t\n")


@needs_root("ping")
def test_a_host_that_answers_is_pinged(salt: Call) -> None:
    assert "4 packets transmitted, 4 received" in str(salt("network.ping", "127.0.0.1"))


def test_what_traceroute_prints_is_read(tmp_path: Path) -> None:
    """Recorded: traceroute 2.1.2 of Debian 12, with names and addresses of the documentation."""
    printed = (
        "traceroute to example.org (192.0.2.9), 30 hops max, 60 byte packets\n"
        " 1  gate (192.0.2.1)  0.252 ms  0.306 ms  0.404 ms\n"
        " 2  * * *\n"
        " 3  example.org (192.0.2.9)  9.5 ms *  9.7 ms\n"
    )
    bench, host = scripted(tmp_path, {"traceroute": Ran(0, printed)})
    hops = bench.salt["network.traceroute"]("example.org")
    assert host.asked == ["traceroute example.org"]
    assert hops == [
        {"count": 1, "hostname": "gate", "ip": "192.0.2.1", "ms1": 0.252, "ms2": 0.306, "ms3": 0.404},
        {"count": 2, "hostname": "*"},
        {"count": 3, "hostname": "example.org", "ip": "192.0.2.9", "ms1": 9.5, "ms2": 9.7},
    ]  # fmt: skip


def test_other_tools_are_asked_with_nothing_but_a_name(tmp_path: Path) -> None:
    """Played by a fake host: what the tools are asked is what counts."""
    bench, host = scripted(tmp_path, {"dig": Ran(0, ";; ANSWER\n"), "ping": Ran(1)})
    assert bench.salt["network.dig"]("example.org") == ";; ANSWER"
    assert bench.salt["network.ping"]("example.org", timeout=3, return_boolean=True) is False
    assert host.asked[-1] == "ping -c 4 -W 3 example.org"
    for bad in ("-f", "a b", "x;reboot", ""):
        with pytest.raises(BadArgument, match="cannot be the name of a host"):
            bench.salt["network.ping"](bad)


def test_the_buffers_of_a_card_are_read_and_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded: ethtool 6.1 of Debian 12, shortened."""
    from saltern.modules.functions.network import buffers

    monkeypatch.setattr(buffers, "has", lambda program: True)
    printed = (
        "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nTX:\t\t4096\n"
        "Current hardware settings:\nRX:\t\t256\nTX:\t\t512\n"
    )
    bench, host = scripted(tmp_path, {"ethtool -g": Ran(0, printed), "ethtool -G": Ran(0)})
    assert bench.salt["network.get_bufsize"]("eth0") == {
        "Pre-set maximums": {"RX": "4096", "TX": "4096"},
        "Current hardware settings": {"RX": "256", "TX": "512"},
    }
    assert bench.salt["network.mod_bufsize"]("eth0", rx=512) == {"result": True, "comment": "rx 512"}
    assert host.asked[-1] == "ethtool -G eth0 rx 512"
    assert bench.salt["network.mod_bufsize"]("eth0") == {
        "result": False,
        "comment": "needs one of rx, rx-mini, rx-jumbo, tx",
    }


def test_a_machine_is_woken_by_sixteen_times_its_address(salt: Call) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind(("127.0.0.1", 0))
        line.settimeout(5)
        assert salt("network.wol", "08:00:27:13:69:77", "127.0.0.1", line.getsockname()[1]) is True
        assert line.recv(200) == b"\xff" * 6 + bytes.fromhex("080027136977") * 16


@pytest.mark.parametrize(
    ("name", "args", "why"),
    [
        ("network.wol", ("zork",), "MAC address"),
        ("network.routes", ("ipx",), "family cannot be"),
        ("network.get_route", ("zork",), "not an address"),
        ("network.is_private", ("zork",), "not an address"),
        ("network.mod_hostname", ("a b",), "cannot be the name of a host"),
        ("network.get_bufsize", ("../x",), "cannot be the name of an interface"),
    ],
)
def test_bad_input_is_reported(
    salt: Call, monkeypatch: pytest.MonkeyPatch, name: str, args: tuple[str, ...], why: str
) -> None:
    from saltern.modules.functions.network import buffers

    monkeypatch.setattr(buffers, "has", lambda program: True)
    with pytest.raises(BadArgument, match=why):
        salt(name, *args)
