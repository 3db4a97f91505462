"""A real engine for the tests of this folder; they are skipped, with the reason, where none can be had."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.modules.bench import Bench

from saltern.modules.api.refused import Refused
from saltern.modules.functions import docker as functions
from saltern.modules.lib.containers.engine import Engine
from saltern.modules.states import docker_container, docker_image, docker_network, docker_volume

from .real_engine import IMAGE, real_engine, why_not

MakeBench = Callable[[ModuleType], Bench]


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if why := why_not():
        pytest.skip(why)
    running = real_engine(tmp_path_factory.mktemp("docker"))
    try:
        address = running.__enter__()
    except (Refused, OSError, subprocess.SubprocessError) as problem:
        pytest.skip(str(problem))
    yield address
    running.__exit__(None, None, None)


@pytest.fixture
def engine(address: str) -> Iterator[Engine]:
    """The engine; what a test leaves behind is removed."""
    engine = Engine(address)
    yield engine
    for one in engine.get("/containers/json", {"all": True}):
        engine.ask("DELETE", f"/containers/{one['Id']}", {"force": True, "v": True})
    for one in engine.get("/networks"):
        if one["Name"].startswith("saltern-t"):
            engine.ask("DELETE", f"/networks/{one['Id']}")
    for one in engine.get("/volumes")["Volumes"] or ():
        engine.ask("DELETE", f"/volumes/{one['Name']}")
    for one in engine.get("/images/json"):
        tags = one.get("RepoTags") or []
        others = [tag for tag in tags if tag != IMAGE] if IMAGE in tags else [one["Id"]]
        for name in others:
            engine.ask("DELETE", f"/images/{name}", {"force": True})


@pytest.fixture
def bench_of(tmp_path: Path, engine: Engine) -> MakeBench:
    def make(module: ModuleType) -> Bench:
        return Bench(tmp_path, module, functions={"docker": functions}, opts={"docker.url": engine.address})

    return make


@pytest.fixture
def containers(bench_of: MakeBench) -> Bench:
    return bench_of(docker_container)


@pytest.fixture
def images(bench_of: MakeBench) -> Bench:
    return bench_of(docker_image)


@pytest.fixture
def networks(bench_of: MakeBench) -> Bench:
    return bench_of(docker_network)


@pytest.fixture
def volumes(bench_of: MakeBench) -> Bench:
    return bench_of(docker_volume)
