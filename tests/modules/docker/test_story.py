"""The same story with a real engine and with its record.

The record is of Docker 20.10.24 (interface 1.41) of Debian 12. To make it anew, run this file with
``SALTERN_RECORD_DOCKER=1`` on a machine that can start an engine.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

import pytest
from tests.modules.bench import Bench

from saltern.modules.lib.containers import engine as engines
from saltern.modules.states import docker_container, docker_image, docker_network, docker_volume

from . import played, story
from .conftest import MakeBench


@pytest.mark.machine
def test_the_story_as_a_real_engine_tells_it(bench_of: MakeBench, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.environ.get("SALTERN_RECORD_DOCKER"):
        monkeypatch.setattr(engines, "Engine", played.RecordingEngine)
    story.told(bench_of)
    if played.RecordingEngine.rows:
        played.write(played.RecordingEngine.rows)


def test_the_story_as_it_was_recorded(tmp_path: Path) -> None:
    """Recorded: answers of Docker 20.10.24 of Debian 12, played over a socket."""
    with played.played(tmp_path) as address:

        def bench_of(module: ModuleType) -> Bench:
            return Bench(tmp_path, module, opts={"docker.url": address})

        story.told(bench_of)


@pytest.mark.parametrize("module", [docker_container, docker_image, docker_network, docker_volume])
def test_an_engine_that_is_not_there_is_reported(module: ModuleType, tmp_path: Path) -> None:
    bench = Bench(tmp_path, module, opts={"docker.url": f"unix://{tmp_path}/none"})
    why = bench.refusal("absent", "saltern-t-none")
    assert why == (
        f"no Docker engine responds at unix://{tmp_path}/none: No such file or directory; start it, or set "
        "docker.url (or DOCKER_HOST) to its address"
    )


def test_an_address_that_is_none_is_reported(tmp_path: Path) -> None:
    bench = Bench(tmp_path, docker_container, opts={"docker.url": "ftp://somewhere"})
    assert "docker.url needs unix://, tcp:// or https://" in bench.refusal("absent", "saltern-t-none")


def test_a_server_that_is_no_engine_is_reported(tmp_path: Path) -> None:
    import socket
    import threading

    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(1000)
            connection.sendall(b"220 hello, mail here\r\n")

    thread = threading.Thread(target=answer)
    thread.start()
    port = server.getsockname()[1]
    bench = Bench(tmp_path, docker_container, opts={"docker.url": f"tcp://127.0.0.1:{port}"})
    why = bench.refusal("absent", "saltern-t-none")
    thread.join()
    server.close()
    assert "does not respond like a Docker engine" in why
