"""One story of a network, a volume, a container and its end: told by a real engine, and by its record."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from tests.modules.bench import Bench

from saltern.language.result import Outcome
from saltern.modules.states import docker_container, docker_image, docker_network, docker_volume

NAME, NET, DATA, IMAGE = "saltern-t-story", "saltern-t-net", "saltern-t-data", "busybox:1.36"
SECRET = "s3cr3t-of-the-story"


def told(bench_of: Callable[[ModuleType], Bench]) -> None:
    networks, volumes = bench_of(docker_network), bench_of(docker_volume)
    containers, images = bench_of(docker_container), bench_of(docker_image)
    images.same("present", IMAGE)
    assert networks.change("present", NET, subnet="10.231.11.0/24").changes == {"created": True}
    volumes.change("present", DATA)
    given: dict[str, object] = {
        "image": IMAGE,
        "command": "sleep 600",
        "environment": {"PASSWORD": SECRET},
        "binds": f"{DATA}:/data",
        "publish": "8080:80",
        "memory": "64m",
        "cap_add": "net_admin",
        "restart": "on-failure:3",
        "networks": [{NET: {"ipv4_address": "10.231.11.7", "aliases": "www"}}],
    }
    done = containers.change("running", NAME, **given)
    assert done.changes == {"state": {"old": None, "new": "running"}}
    assert done.data["networks"] == {NET: "10.231.11.7"} and SECRET not in repr(done)
    done = containers.change("running", NAME, **{**given, "memory": "128m", "shutdown_timeout": 0})
    assert done.changes == {"container": {"HostConfig": {"Memory": {"old": 67108864, "new": 134217728}}}}
    containers.change("stopped", NAME, shutdown_timeout=0)
    assert containers.call("absent", NAME, test=True).outcome is Outcome.WOULD_CHANGE
    containers.change("absent", NAME)
    assert networks.change("absent", NET).changes == {"removed": NET}
    volumes.change("absent", DATA)
