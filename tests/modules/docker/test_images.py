"""``docker_image`` with a real engine: built, loaded and pulled from a registry that the test plays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.modules.bench import Bench

from saltern.language.result import Outcome
from saltern.modules.lib.containers.engine import Engine

pytestmark = pytest.mark.machine

NAME, IMAGE = "saltern-t/web", "busybox:1.36"


@pytest.fixture
def context(tmp_path: Path) -> Path:
    context = tmp_path / "context"
    (context / "kept").mkdir(parents=True)
    (context / "Dockerfile").write_text(f"FROM {IMAGE}\nARG WORD=none\nENV WORD=$WORD\nCOPY . /all\n")
    for name in ("kept/a", "kept/b.log", "secret.pem"):
        (context / name).write_text(name)
    (context / ".dockerignore").write_text("# a remark\n*.pem\n**/*.log\n!kept/b.log\n")
    return context


def test_an_image_is_built_once_and_again_on_demand(images: Bench, context: Path, engine: Engine) -> None:
    given: dict[str, Any] = {"build": str(context), "tag": "1.0"}
    done = images.change("present", NAME, **given)
    assert done.changes == {f"{NAME}:1.0": {"old": None, "new": "built"}}
    assert done.data["tags"] == [f"{NAME}:1.0"]
    again = images.call("present", NAME, force=True, **given)
    assert (again.outcome, again.changes) == (Outcome.OK, {}), "the cache gives the same image"
    foreseen = images.react("present", NAME, test=True, buildargs={"WORD": "new"}, **given)
    done = images.react("present", NAME, buildargs={"WORD": "new"}, **given)
    assert done.changes == foreseen.changes != {}
    assert "WORD=new" in engine.get(f"/images/{NAME}:1.0/json")["Config"]["Env"]


def test_a_build_does_not_see_what_is_ignored(images: Bench, context: Path) -> None:
    images.change("present", NAME, build=str(context), tag="1.0")
    run = images.salt["docker.run_container"]
    told = run(f"{NAME}:1.0", command="ls /all /all/kept", rm=True)
    assert isinstance(told, dict)
    assert "secret.pem" not in told["Logs"] and "b.log" in told["Logs"] and "Dockerfile" in told["Logs"]


def test_another_dockerfile_can_be_named(images: Bench, context: Path) -> None:
    (context / "Other").write_text(f"FROM {IMAGE}\nLABEL other=1\n")
    images.change("present", NAME, build=str(context), tag="2.0", dockerfile="Other")


def test_an_image_is_loaded_from_an_archive_and_named(images: Bench, tmp_path: Path) -> None:
    images.salt["docker.save"](IMAGE, str(tmp_path / "states" / "box.tar"))
    done = images.change("present", NAME, load="salt://box.tar", tag="3.0")
    assert done.changes == {f"{NAME}:3.0": {"old": None, "new": "loaded"}}


def test_an_image_is_removed_but_not_under_a_container(
    images: Bench, containers: Bench, engine: Engine
) -> None:
    tag = images.salt["docker.tag"]
    tag(IMAGE, NAME, "old")
    done = images.change("absent", f"{NAME}:old")
    assert done.changes == {"removed": [f"{NAME}:old"]}
    made = images.salt["docker.run_container"](IMAGE, name="saltern-t-web", command="touch /new")
    images.salt["docker.commit"]("saltern-t-web", NAME, "new")
    containers.call("running", "saltern-t-user", image=f"{NAME}:new", command="sleep 600")
    assert "is used by saltern-t-user" in images.refusal("absent", f"{NAME}:new")
    engine.ask("DELETE", "/containers/saltern-t-user", {"force": True})
    tag(IMAGE, NAME, "more")
    done = images.change("absent", "both", images=[f"{NAME}:new", f"{NAME}:more", "saltern-t/none"])
    assert done.changes == {"removed": [f"{NAME}:more", f"{NAME}:new"]}
    assert made


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"build": "/none"}, "the argument 'tag' is missing; build needs it"),
        ({"build": "/none", "tag": "1"}, "there is no Dockerfile in '/none'"),
        ({"load": "/none", "tag": "1"}, "cannot read '/none'"),
        ({"load": "salt://none", "tag": "1"}, "is not in the environment 'base'"),
        ({"load": "/etc/passwd", "tag": "1"}, ""),
        ({"build": "/a", "load": "/b", "tag": "1"}, "one of build and load"),
        ({"sls": "web", "tag": "1"}, "cannot apply sls"),
        ({"tag": "no tag"}, "an image name is"),
    ],
    ids=str,
)
def test_bad_input_is_reported(given: dict[str, Any], why: str, images: Bench) -> None:
    assert why in images.refusal("present", NAME, **given)


def test_a_build_that_fails_says_what_the_engine_said(images: Bench, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM {IMAGE}\nRUN false\n")
    assert "returned a non-zero code: 1" in images.refusal("present", NAME, build=str(tmp_path), tag="1")


def test_a_pull_that_fails_says_what_the_engine_said(images: Bench) -> None:
    why = images.refusal("present", "localhost:1/saltern-t/none", tag="1")
    assert "localhost:1" in why
