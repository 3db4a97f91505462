"""``network.routes`` and ``network.system`` on Debian, in namespaces of their own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.modules.apart import apart
from tests.modules.bench import Bench, needs_root
from tests.modules.network.test_managed import NIC, STATIC, cable

from saltern.modules.functions import ip as ip_functions
from saltern.modules.states import network

FAR = {"name": "far", "ipaddr": "10.99.0.0", "netmask": "255.255.0.0", "gateway": "10.77.0.1"}
SIX = {"ipaddr": "2001:db8:9::/64", "gateway": "2001:db8:77::1", "metric": 7}
UP, DOWN = Path(f"/etc/network/if-up.d/route-{NIC}"), Path(f"/etc/network/if-down.d/route-{NIC}")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, network, functions={"ip": ip_functions})


def routes() -> str:
    return subprocess.run(["ip", "route"], capture_output=True, text=True, check=True).stdout


@needs_root("ifup", "ip")
@apart
def test_routes_are_set_now_and_whenever_the_interface_comes_up(bench: Bench) -> None:
    cable()
    bench.change("managed", NIC, **STATIC)
    done = bench.change("routes", NIC, routes=[FAR])
    assert done.changes == {"network_routes": f"Added interface {NIC} routes."}
    assert f"10.99.0.0/16 via 10.77.0.1 dev {NIC}" in routes()
    assert UP.stat().st_mode & 0o777 == 0o755
    subprocess.run(["ifdown", NIC], check=True)
    subprocess.run(["ip", "link", "set", "saltern-t1", "up"], check=True)
    subprocess.run(["ifup", NIC], check=True)
    assert "10.99.0.0/16" in routes()
    done = bench.change("routes", NIC, routes=[{**FAR, "ipaddr": "10.98.0.0", "metric": 3}])
    assert "-ip route replace 10.99.0.0/16" in str(done.changes["network_routes"])
    assert "10.99.0.0/16" not in routes() and "10.98.0.0/16 via 10.77.0.1" in routes()
    bench.change("routes", NIC, routes=[])
    assert not UP.exists() and not DOWN.exists() and "10.98" not in routes()


@needs_root("ifup", "ip")
@apart
def test_routes_of_an_interface_that_is_down_are_only_written(bench: Bench) -> None:
    cable()
    bench.change("routes", NIC, routes=[FAR, SIX])
    assert f"ip -6 route del 2001:db8:9::/64 via 2001:db8:77::1 dev {NIC} metric 7\n" in DOWN.read_text()
    told = bench.salt["ip.get_routes"](NIC)
    assert told == bench.salt["ip.build_routes"](NIC, routes=[FAR, SIX], test=True)


@needs_root("ifup", "ip")
@apart
def test_a_route_that_cannot_be_set_is_a_failure_that_says_so(bench: Bench) -> None:
    cable()
    bench.change("managed", NIC, **STATIC)
    result = bench.call("routes", NIC, routes=[{**FAR, "gateway": "192.0.2.1"}])
    assert "could not be set now" in result.comment


@pytest.mark.parametrize(
    ("routes_", "word"),
    [
        ("default", "list of mappings"),
        (["default"], "list of mappings"),
        ([{"ipaddr": "x"}], "ipaddr and netmask"),
        ([{"ipaddr": "10.0.0.0/8", "gateway": "$(reboot)"}], "gateway needs an address"),
        ([{"ipaddr": "10.0.0.0/8", "name": "a\nreboot"}], "must not contain"),
        ([{"ipaddr": "10.0.0.0/8", "metric": "low"}], "metric needs a number"),
        ([{"ipadr": "10.0.0.0/8"}], "a route has no ipadr"),
    ],
)
def test_bad_routes_are_reported(bench: Bench, routes_: object, word: str) -> None:
    assert word in bench.refusal("routes", "saltern-t9", routes=routes_)


@needs_root("ip", "hostname")
@apart
def test_the_name_of_the_machine_is_kept_and_applied(bench: Bench) -> None:
    Path("/etc/resolv.conf").unlink(missing_ok=True)
    Path("/etc/resolv.conf").write_text("# a remark\nnameserver 192.0.2.53\n")
    Path("/etc/hostname").write_text("before\n")
    subprocess.run(["hostname", "before"], check=True)
    Path("/etc/hosts").write_text("127.0.0.1 localhost\n127.0.1.1 before\n")
    done = bench.change("system", "machine", hostname="saltern-t.example.org", search=["example.org"])
    assert "+DOMAIN=example.org" in str(done.changes["network_settings"])
    assert (Path("/etc/hostname").read_text(), os.uname().nodename) == ("saltern-t\n", "before")
    assert Path("/etc/resolv.conf").read_text() == (
        "domain example.org\nsearch example.org\n# a remark\nnameserver 192.0.2.53\n"
    )
    done = bench.change("system", "machine", hostname="saltern-t.example.org", apply_hostname=True)
    assert done.changes == {"hostname": {"old": "before", "new": "saltern-t"}}
    assert os.uname().nodename == "saltern-t"
    assert Path("/etc/hosts").read_text() == (
        "127.0.0.1 localhost\n127.0.1.1\t\tsaltern-t.example.org saltern-t\n"
    )


@needs_root("ip")
@apart
def test_whether_interfaces_come_up_at_boot(bench: Bench) -> None:
    defaults = Path("/etc/default/networking")
    defaults.write_text("# a remark\n#CONFIGURE_INTERFACES=yes\nVERBOSE=no\n")
    Path("/etc/hostname").write_text("saltern-t\n")
    done = bench.change("system", "machine", enabled=False)
    assert done.data["settings"]
    assert defaults.read_text().endswith("VERBOSE=no\nCONFIGURE_INTERFACES=no\n")
    bench.change("system", "machine", enabled=True)
    assert defaults.read_text().endswith("VERBOSE=no\nCONFIGURE_INTERFACES=yes\n")


def test_a_bad_name_of_the_machine_is_reported(bench: Bench) -> None:
    assert "cannot be the name of a host" in bench.refusal("system", "x", hostname="a b")
    assert "cannot be the name of a host" in bench.refusal("system", "x", hostname="-a")
    assert "needs a hostname" in bench.refusal("system", "x", apply_hostname=True)
