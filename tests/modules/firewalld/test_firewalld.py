"""``firewalld``, for real: a daemon with a bus and a network of its own, and the tool for when none runs.

Both work on a copy of the machine's configuration.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.modules.bench import Bench, needs_root
from tests.modules.own_network import OtherHost, namespaces

from saltern.modules.api.params import BadArgument
from saltern.modules.functions import firewalld as firewalld_functions
from saltern.modules.states import firewalld

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={place}/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>
"""
PROGRAMS = ("firewall-cmd", "firewall-offline-cmd", "firewalld", "dbus-daemon", "unshare", "nsenter", "ip")
# Every program of firewalld takes a while to start, so not everything is tried in both ways.
with_daemon = pytest.mark.parametrize("bench", ["daemon"], indirect=True)
offline = pytest.mark.parametrize("bench", ["offline"], indirect=True)
needs_firewalld: Callable[[Callable[..., None]], Callable[..., None]] = needs_root(*PROGRAMS)


@contextmanager
def daemon(host: OtherHost, place: Path) -> Iterator[None]:
    """A bus and a firewalld in the namespaces of the host."""
    (place / "bus.conf").write_text(BUS.format(place=place))
    log = f"--log-file={place}/log"
    started: list[subprocess.Popen[bytes]] = []
    try:
        for argv in (
            ["dbus-daemon", f"--config-file={place}/bus.conf", "--nofork", "--nopidfile"],
            ["firewalld", "--nofork", "--nopid", log],
        ):
            quiet = subprocess.DEVNULL
            started.append(
                subprocess.Popen(
                    [*host.enter, "--", *argv], env={**host.env, "PATH": "/usr/sbin:/usr/bin"}, stderr=quiet
                )
            )
            while not (place / "bus").exists():
                time.sleep(0.05)
        end = time.monotonic() + 60
        while host.run(["firewall-cmd", "--state"]).code and time.monotonic() < end:
            time.sleep(0.1)
        yield
    finally:
        for one in reversed(started):
            one.terminate()
            one.wait()


@pytest.fixture(params=["daemon", "offline"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    copy = tmp_path / "etc"
    shutil.copytree("/etc/firewalld", copy)
    with namespaces(f"mount --bind {copy} /etc/firewalld") as pid:
        host = OtherHost(pid, env={"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={tmp_path}/bus"})
        bench = Bench(tmp_path, firewalld, functions={"firewalld": firewalld_functions}, host=host)
        if request.param == "offline":
            yield bench
        else:
            with daemon(host, tmp_path):
                yield bench


def in_force(bench: Bench, *args: str) -> list[str]:
    """What the daemon does now; nothing to ask if there is none."""
    return bench.run.host.run(["firewall-cmd", *args]).out.split()


@needs_firewalld
def test_a_zone_gets_what_belongs_to_it(bench: Bench, request: pytest.FixtureRequest) -> None:
    running = "daemon" in request.node.name
    done = bench.change(
        "present", "saltern-t", ports=["80/tcp", "443/tcp"], services=["ssh"], masquerade=True
    )
    zones = ["block", "dmz", "drop", "external", "home", "internal", "public", "trusted", "work"]
    assert done.changes == {
        "saltern-t": {"old": zones, "new": "saltern-t"},
        "ports": {"old": [], "new": ["80/tcp", "443/tcp"]},
        "services": {"old": [], "new": ["ssh"]},
        "masquerade": {"old": False, "new": "Masquerading successfully set."},
    }
    assert (done.data["running"], done.data["masquerade"]) == (running, True)
    if running:
        assert in_force(bench, "--zone=saltern-t", "--list-ports") == ["80/tcp", "443/tcp"]
    done = bench.change("present", "saltern-t", ports=["8080/tcp"], masquerade=False)
    assert done.changes["ports"] == {"old": ["80/tcp", "443/tcp"], "new": ["80/tcp", "443/tcp", "8080/tcp"]}
    done = bench.change("present", "saltern-t", ports=["8080/tcp"], prune_ports=True, prune_services=True)
    assert done.changes == {
        "ports": {"old": ["80/tcp", "443/tcp", "8080/tcp"], "new": ["8080/tcp"]},
        "services": {"old": ["ssh"], "new": []},
    }


@offline
@needs_firewalld
def test_a_range_of_ports_covers_its_ports(bench: Bench) -> None:
    bench.change("present", "public", ports=["6000-6010/udp"])
    bench.same("present", "public", ports=["6005/udp", "6007-6009/udp"])
    bench.change("present", "public", ports=["6005/tcp"])


@with_daemon
@needs_firewalld
def test_rules_forwards_and_blocks(bench: Bench) -> None:
    rules = [
        "rule family=ipv4 source address='10.0.0.0/8' port protocol=tcp port=22 accept",
        "rule service name=ssh log prefix='a b' accept",
    ]
    args: dict[str, object] = {
        "rich_rules": rules,
        "port_fwd": ["22:2222:tcp", "80:443:tcp:192.168.0.1"],
        "block_icmp": ["echo-reply"],
    }
    done = bench.change("present", "public", **args)
    assert done.changes["port_fwd"]["new"][1] == {  # type: ignore[index]
        "Source port": "80",
        "Destination port": "443",
        "Protocol": "tcp",
        "Destination address": "192.168.0.1",
    }
    assert done.changes["icmp_types"] == {"old": [], "new": ["echo-reply"]}
    assert 'rule service name="ssh" log prefix="a b" accept' in done.data["rich_rules"]  # type: ignore[operator]
    bench.same("present", "public", prune_rich_rules=True, prune_port_fwd=True, prune_block_icmp=True, **args)
    done = bench.change("present", "public", rich_rules=rules[:1], prune_rich_rules=True, prune_port_fwd=True)
    assert done.data["port_fwd"] == [] and len(done.data["rich_rules"]) == 1  # type: ignore[arg-type]


@needs_firewalld
def test_a_zone_is_bound_and_made_the_default(bench: Bench) -> None:
    done = bench.change("present", "saltern-t", interfaces=["eth7"], sources=["10.0.0.0/8"], default=True)
    assert done.changes["default"] == {"old": "public", "new": "saltern-t"}
    done = bench.change("bind", "saltern-t", sources=["10.1.0.0/16", "10.2.0.0/16"])
    assert done.changes == {"sources": {"old": ["10.0.0.0/8"], "new": ["10.1.0.0/16", "10.2.0.0/16"]}}
    done = bench.change("bind", "saltern-t", interfaces=[], sources=["10.1.0.0/16"])
    assert (done.data["interfaces"], done.data["sources"]) == ([], ["10.1.0.0/16"])


@with_daemon
@needs_firewalld
def test_a_service_is_what_it_is_said_to_be(bench: Bench) -> None:
    done = bench.change("service", "saltern-t", ports=["4505/tcp", "4506/tcp"], protocols=["gre"])
    assert done.changes == {
        "service": {"old": None, "new": "saltern-t"},
        "ports": {"old": [], "new": ["4505/tcp", "4506/tcp"]},
        "protocols": {"old": [], "new": ["gre"]},
    }
    done = bench.change("service", "saltern-t", ports=["4506/tcp"])
    assert done.changes == {
        "ports": {"old": ["4505/tcp", "4506/tcp"], "new": ["4506/tcp"]},
        "protocols": {"old": ["gre"], "new": []},
    }
    bench.change("present", "public", services=["saltern-t"])


@offline
@needs_firewalld
def test_what_firewalld_refuses_is_reported(bench: Bench) -> None:
    assert "such as 80/tcp" in bench.refusal("present", "public", ports=["80"])
    assert "nosuch" in bench.refusal("present", "public", services=["nosuch"])
    assert "max is 17" in bench.refusal("present", "saltern-t-very-long-name")
    assert "not a forwarding" in bench.refusal("present", "public", port_fwd=["80"])
    assert "cannot be called" in bench.refusal("present", "--panic-on")
    assert "must not contain" in bench.refusal("present", "public", sources=["10.0.0.1\n--panic-on"])
    assert "cannot split" in bench.refusal("present", "public", rich_rules=["rule 'open"])
    assert "such as 80/tcp" in bench.refusal("service", "ssh", ports=["x"])
    assert "INVALID_PORT" in bench.refusal("present", "public", ports=["99999/tcp"])


@offline
@needs_firewalld
@pytest.mark.timeout(300)  # some sixty programs of firewalld, which take their time to start
def test_functions_look_and_change(bench: Bench) -> None:
    def call(name: str, *args: object, **keywords: object) -> object:
        return bench.salt[f"firewalld.{name}"](*args, **keywords)

    assert str(call("version"))[0].isdigit()
    assert call("default_zone") == "public" and "public" in call("get_zones")  # type: ignore[operator]
    assert call("new_zone", "saltern-t") == "success" and "saltern-t" in call("list_zones")  # type: ignore[operator]
    rule = 'rule service name="ssh" accept'
    for add, remove, listing, args in (
        ("add_port", "remove_port", "list_ports", ("80/tcp",)),
        ("add_interface", "remove_interface", "get_interfaces", ("eth7",)),
        ("add_source", "remove_source", "get_sources", ("10.0.0.0/8",)),
        ("add_rich_rule", "remove_rich_rule", "get_rich_rules", (rule,)),
        ("block_icmp", "allow_icmp", "list_icmp_block", ("echo-reply",)),
        ("add_port_fwd", "remove_port_fwd", "list_port_fwd", ("22", "2222")),
    ):
        assert call(add, "saltern-t", *args) == "success"
        found = call(listing, "saltern-t")
        assert isinstance(found, list) and len(found) == 1
        assert call(remove, "saltern-t", *args) == "success"
        assert call(listing, "saltern-t") == []
    assert call("block_icmp", "saltern-t", "nosuch") is False
    assert call("add_service", "ssh", "saltern-t") == "success"
    assert call("list_services", "saltern-t") == ["ssh"]
    assert call("remove_service", "ssh", "saltern-t") == "success"
    assert call("add_port", "saltern-t", "80/tcp", force_masquerade=True) == "success"
    assert call("get_masquerade", "saltern-t") is True
    assert call("remove_masquerade", "saltern-t") == "success"
    assert call("list_all", "saltern-t")["saltern-t"]["ports"] == ["80/tcp"]  # type: ignore[index]
    assert call("new_service", "saltern-t") == "success" and "saltern-t" in call("get_services")  # type: ignore[operator]
    assert call("add_service_port", "saltern-t", "99/tcp") == "success"
    assert call("get_service_ports", "saltern-t") == ["99/tcp"]
    assert call("add_service_protocol", "saltern-t", "gre") == "success"
    assert call("remove_service_protocol", "saltern-t", "gre") == "success"
    assert call("get_service_protocols", "saltern-t") == []
    assert call("remove_service_port", "saltern-t", "99/tcp") == "success"
    assert call("delete_service", "saltern-t") == "success"
    assert call("set_default_zone", "saltern-t") == "success" and call("default_zone") == "saltern-t"


@with_daemon
@needs_firewalld
def test_functions_reach_what_is_in_force(bench: Bench) -> None:
    salt = bench.salt
    assert salt["firewalld.add_port"]("work", "81/tcp", permanent=False) == "success"
    assert salt["firewalld.list_ports"]("work") == []
    assert salt["firewalld.make_permanent"]() == "success"
    assert salt["firewalld.list_ports"]("work") == ["81/tcp"]
    assert salt["firewalld.reload_rules"]() == "success"


@offline
@needs_firewalld
def test_what_is_in_force_needs_the_daemon(bench: Bench) -> None:
    with pytest.raises(BadArgument, match="firewalld is not running"):
        bench.salt["firewalld.list_ports"]("work", permanent=False)
