"""Whatever waits for the Docker engine says for what, and can be interrupted: here none ever answers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers.engine import Engine
from saltern.modules.lib.containers.waits import waited_for
from saltern.system import waits

REQUESTS = {
    ("POST", "/images/create", "fromImage=redis tag=7"): "the image redis:7 to be pulled",
    ("POST", "/images/create", "fromSrc=-"): "an image to be imported",
    ("POST", "/images/a/b/push", ""): "the image a/b to be pushed",
    ("POST", "/build", ""): "an image to be built",
    ("POST", "/containers/web/wait", ""): "the container web to end",
    ("POST", "/containers/web/stop", "t=10"): "the container web to stop",
    ("POST", "/exec/12/start", ""): "a command in a container to end",
    ("GET", "/containers/json", ""): "a response of the Docker engine at here (GET /containers/json)",
}


@pytest.fixture
def mute(tmp_path: Path) -> Iterator[Path]:
    """An engine that accepts everything and says nothing."""
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen(8)
        yield path


@pytest.mark.parametrize("request_", REQUESTS, ids=" ".join)
def test_every_request_has_words(request_: tuple[str, str, str]) -> None:
    method, path, query = request_
    asked = dict(one.split("=") for one in query.split())
    assert waited_for(method, path, asked, "here") == REQUESTS[request_]


def test_a_silent_engine_is_reported_while_it_is_waited_for(
    mute: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    heard = threading.Event()

    def report(what: str, _seconds: float = 0.0) -> None:
        said.append(what)
        heard.set()

    monkeypatch.setattr(waits, "LONG", 0.01)
    monkeypatch.setattr(waits, "report_wait", report)
    engine = Engine(f"unix://{mute}")
    asker = threading.Thread(target=lambda: _quietly(engine), daemon=True)
    asker.start()
    assert heard.wait(60) and said == ["the container web to end"]


def _quietly(engine: Engine) -> None:
    with suppress(Refused):  # when the test ends
        engine.ask("POST", "/containers/web/wait", timeout=3600)


def test_an_engine_that_answers_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(waits, "report_wait", lambda what, _seconds=0.0: said.append(what))
    with waits.reported_wait("nothing"):
        pass
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join()
    assert said == []


CALLS = {
    "function": ("call", "docker.wait", "web"),
    "state": ("single", "docker_image.present", "redis:7"),
    "container": ("single", "docker_container.running", "web", "image=redis:7"),
}


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("case", CALLS)
def test_a_wait_can_be_interrupted(mute: Path, tmp_path: Path, case: str, sign: signal.Signals) -> None:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "DOCKER_HOST": f"unix://{mute}",
        "SALTERN_CACHEDIR": str(tmp_path / "cache"),
        "SALTERN_STATE_DIR": str(tmp_path / "state"),
    }
    program = subprocess.Popen(
        [sys.executable, "-m", "saltern", *CALLS[case]],
        env=env,
        cwd=tmp_path,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert program.stderr is not None
    for line in program.stderr:
        if "waiting for" in line:
            break
    else:
        pytest.fail(f"it ended with {program.wait()} and waited for nothing")
    program.send_signal(sign)
    try:
        assert program.wait(timeout=60) != 0
    finally:
        program.kill()
        program.wait()
        program.stderr.close()
