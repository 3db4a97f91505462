"""Push and pull between a real engine and a registry that wants a password; and logins that are kept."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.modules.bench import Bench

from saltern.language.result import Outcome
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import registries
from saltern.modules.lib.containers.engine import Engine

from .registry import PASSWORD, USER

pytestmark = pytest.mark.machine

ADDRESS, IMAGE = "localhost:5000", "busybox:1.36"
NAME = f"{ADDRESS}/saltern-t/web"


@pytest.fixture
def registry(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """In the engine's network; no login of this machine is seen."""
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "config"))
    daemon = Path(engine.address.removeprefix("unix://")).with_name("pid").read_text().strip()
    place = str(Path(__file__).with_name("registry.py"))
    enter = ["nsenter", f"--net=/proc/{daemon}/ns/net"]
    server = subprocess.Popen([*enter, sys.executable, place, "5000"], stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield ADDRESS
    finally:
        server.terminate()
        server.communicate()
        for tag in (f"{NAME}:1", f"{NAME}:latest"):
            try:
                engine.ask("DELETE", f"/images/{tag}")
            except Refused:
                pass


@pytest.fixture
def logged_in(images: Bench) -> Bench:
    images.run.pillar["docker-registries"] = {ADDRESS: {"username": USER, "password": PASSWORD}}
    return images


def test_an_image_is_pushed_removed_and_pulled_again(registry: str, logged_in: Bench, engine: Engine) -> None:
    salt = logged_in.salt
    salt["docker.tag"](IMAGE, NAME, "1")
    pushed = salt["docker.push"](f"{NAME}:1")
    assert isinstance(pushed, dict) and len(pushed["Layers"]["Pushed"]) == 1, pushed
    done = logged_in.change("absent", f"{NAME}:1")
    done = logged_in.change("present", NAME, tag="1")
    assert done.changes == {f"{NAME}:1": {"old": None, "new": "pulled"}}
    assert PASSWORD not in repr(done)
    again = logged_in.call("present", f"{NAME}:1", force=True)
    assert (again.outcome, again.changes) == (Outcome.OK, {})
    assert "there were no changes" in again.comment


def test_a_container_pulls_its_image(registry: str, logged_in: Bench, containers: Bench) -> None:
    salt = logged_in.salt
    salt["docker.tag"](IMAGE, NAME, "1")
    salt["docker.push"](f"{NAME}:1")
    salt["docker.rmi"](f"{NAME}:1")
    containers.run.pillar.update(logged_in.run.pillar)
    done = containers.change("running", "saltern-t-web", image=f"{NAME}:1", command="sleep 600")
    assert done.changes["image"] == {"old": None, "new": f"{NAME}:1"}


def test_without_a_password_the_registry_refuses(registry: str, images: Bench) -> None:
    assert "no basic auth credentials" in images.refusal("present", NAME, tag="1")
    images.run.pillar["docker-registries"] = {ADDRESS: {"username": USER, "password": "wrong-s3cr3t"}}
    why = images.refusal("present", NAME, tag="1")
    assert "wrong-s3cr3t" not in why
    images.run.pillar["web-docker-registries"] = {ADDRESS: {"username": USER}}
    assert "needs a username and a password" in images.refusal("present", NAME, tag="1")


def test_a_login_is_kept_for_later_and_forgotten(registry: str, logged_in: Bench, tmp_path: Path) -> None:
    salt = logged_in.salt
    assert salt["docker.login"]() == {"Results": {ADDRESS: True}, "Errors": []}
    file = tmp_path / "config" / "config.json"
    assert os.stat(file).st_mode & 0o777 == 0o600
    logged_in.run.pillar.clear()
    salt["docker.tag"](IMAGE, NAME, "1")
    assert salt["docker.push"](f"{NAME}:1")
    assert salt["docker.logout"](ADDRESS) == {"Results": {ADDRESS: True}}
    with pytest.raises(Refused, match="no basic auth credentials"):
        salt["docker.push"](f"{NAME}:1")


def test_a_wrong_password_is_reported_and_not_kept(registry: str, logged_in: Bench, tmp_path: Path) -> None:
    logged_in.run.pillar["docker-registries"] = {ADDRESS: {"username": USER, "password": "wrong-s3cr3t"}}
    told = logged_in.salt["docker.login"](ADDRESS)
    assert isinstance(told, dict) and told["Results"] == {ADDRESS: False}
    assert "wrong-s3cr3t" not in repr(told)
    assert not (tmp_path / "config").exists()


def test_an_image_belongs_to_a_registry() -> None:
    assert registries.registry_of("a/b") == registries.HUB
    assert registries.registry_of("registry.example.org/a") == "registry.example.org"
    assert registries.registry_of("localhost/a") == "localhost"
    assert registries.host("https://index.docker.io/v1/") == registries.host("hub") == "docker.io"
