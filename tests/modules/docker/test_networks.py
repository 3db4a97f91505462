"""``docker_network`` and ``docker_volume`` with a real engine."""

from __future__ import annotations

from typing import Any

import pytest
from tests.modules.bench import Bench

from saltern.language.result import Outcome
from saltern.modules.lib.containers.engine import Engine

pytestmark = pytest.mark.machine

NET, VOLUME, IMAGE = "saltern-t-net", "saltern-t-data", "busybox:1.36"


def test_a_network_is_made_kept_and_replaced(networks: Bench) -> None:
    assert networks.change("present", NET).changes == {"created": True}
    done = networks.change("present", NET, subnet="10.231.5.0/24", labels=["a=b"], internal=True)
    assert done.changes["recreated"] is True
    diff = done.changes[NET]
    assert isinstance(diff, dict)
    assert diff.keys() == {"Labels", "Internal", "IPAM"}
    assert done.data["subnets"] == ["10.231.5.0/24"]


@pytest.mark.parametrize(
    "given",
    [
        {"driver_opts": {"com.docker.network.bridge.enable_icc": False}},
        {"options": "com.docker.network.driver.mtu=1400,com.docker.network.bridge.name=saltern-t0"},
        {"subnet": "10.231.5.0/24", "iprange": "10.231.5.128/25", "gateway": "10.231.5.254"},
        {"subnet": "10.231.5.0/24", "aux_address": {"router": "10.231.5.9"}},
        {"ipam_pools": [{"subnet": "10.231.6.0/24"}, {"subnet": "fd00:231::/64"}], "ipv6": True},
        {"ipam": {"Driver": "default", "Config": [{"Subnet": "10.231.7.0/24"}]}},
        {"attachable": True, "labels": {"a": "b"}, "check_duplicate": False},
        {"driver": "bridge", "internal": True},
        {"ipam_driver": "default", "scope": "local"},
    ],
    ids=str,
)
def test_every_argument_is_taken_and_then_stays_as_it_is(given: dict[str, Any], networks: Bench) -> None:
    networks.change("present", NET, **given)
    plain = networks.call("present", NET)
    assert plain.outcome is Outcome.OK, plain
    networks.same("present", NET)


def test_containers_come_back_into_a_network_that_is_replaced(
    networks: Bench, containers: Bench, engine: Engine
) -> None:
    networks.change("present", NET, subnet="10.231.5.0/24")
    place = {NET: {"ipv4_address": "10.231.5.7", "aliases": "www"}}
    containers.change("running", "saltern-t-a", image=IMAGE, command="sleep 600", networks=[place])
    containers.change("running", "saltern-t-b", image=IMAGE, command="sleep 600", networks=NET)
    done = networks.change("present", NET, subnet="10.231.5.0/24", labels="x")
    assert done.changes["reconnected"] == ["saltern-t-a", "saltern-t-b"]
    containers.same("running", "saltern-t-a", image=IMAGE, command="sleep 600", networks=[place])
    done = networks.change("present", NET, subnet="10.231.6.0/24")
    found = engine.get("/containers/saltern-t-a/json")["NetworkSettings"]["Networks"][NET]
    assert found["IPAddress"].startswith("10.231.6.") and "www" in found["Aliases"]
    done = networks.change("present", NET, subnet="10.231.7.0/24", reconnect=False)
    assert done.changes["disconnected"] == ["saltern-t-a", "saltern-t-b"]


def test_containers_can_be_named_and_are_connected(networks: Bench, containers: Bench) -> None:
    containers.change("running", "saltern-t-a", image=IMAGE, command="sleep 600")
    given: dict[str, Any] = {"containers": ["saltern-t-a", "saltern-t-none"]}
    done = networks.change("present", NET, **given)
    assert done.changes == {"created": True, "connected": ["saltern-t-a"]}
    assert done.warnings == ("no such container: saltern-t-none",)
    networks.salt["docker.disconnect_container_from_network"]("saltern-t-a", NET)
    assert networks.change("present", NET, **given).changes == {"connected": ["saltern-t-a"]}
    done = networks.change("absent", NET)
    assert done.changes == {"removed": NET, "disconnected": ["saltern-t-a"]}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"subnet": "10.0.0.0/99"}, "needs a subnet such as"),
        ({"subnet": "10.0.0.0/24", "gateway": "10.1.0.1"}, "10.1.0.1 is not in the subnet"),
        ({"subnet": "10.0.0.0/24", "iprange": "10.1.0.0/25"}, "the iprange 10.1.0.0/25 is not in"),
        ({"gateway": "10.1.0.1"}, "needs a subnet"),
        ({"ipam_pools": [{"subnet": "10.0.0.0/24", "color": 1}]}, "has no 'color'"),
        ({"ipam_pools": [{"subnet": "10.0.0.0/24"}, {"subnet": "10.1.0.0/24"}]}, "only one pool of IPv4"),
        ({"ipam_pools": "x"}, "a list of mappings"),
        ({"ipam": {}, "subnet": "10.0.0.0/24"}, "ipam replaces all"),
        ({"options": {"a": 1}, "driver_opts": {"a": 1}}, "are the same argument"),
    ],
    ids=str,
)
def test_bad_input_is_reported(given: dict[str, Any], why: str, networks: Bench) -> None:
    assert why in networks.refusal("present", NET, **given)


def test_a_volume_is_made_kept_and_removed(volumes: Bench, containers: Bench) -> None:
    done = volumes.change("present", VOLUME)
    assert done.changes == {"created": {"Name": VOLUME, "Driver": "local", "Options": {}}}
    assert str(done.data["mountpoint"]).endswith("_data")
    containers.change(
        "running", "saltern-t-a", image=IMAGE, command="sleep 600", binds=f"{VOLUME}:/data", stop_timeout=0
    )
    assert "is used by saltern-t-a" in volumes.refusal("absent", VOLUME)
    containers.call("absent", "saltern-t-a", force=True)
    volumes.same("absent", VOLUME, driver="other")
    assert volumes.change("absent", VOLUME).changes == {"removed": VOLUME}


def test_options_of_a_volume_are_replaced_only_by_force_and_passwords_are_hidden(volumes: Bench) -> None:
    options = {"type": "cifs", "device": "//host/share", "o": "username=a,password=s3cr3t"}
    done = volumes.change("present", VOLUME, driver="local", driver_opts=options)
    assert "s3cr3t" not in repr(done) and "password=(hidden)" in repr(done.changes)
    other = [{"type": "tmpfs"}, {"device": "tmpfs"}]
    kept = volumes.same("present", VOLUME, driver_opts=other)
    assert kept.warnings == (f"volume {VOLUME!r} has other options; force: True replaces it",)
    done = volumes.change("present", VOLUME, driver_opts=other, force=True)
    assert list(done.changes) == ["removed", "created"]


def test_bad_volumes_are_reported(volumes: Bench) -> None:
    volumes.change("present", VOLUME)
    assert "has the driver 'local', not 'nonesuch'" in volumes.refusal("present", VOLUME, driver="nonesuch")
    assert "needs name=value" in volumes.refusal("present", VOLUME, driver_opts="type")
