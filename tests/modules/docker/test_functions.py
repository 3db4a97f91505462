"""The ``docker`` functions with a real engine."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.modules.bench import Bench

from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers.engine import Engine

from .real_engine import root_files

pytestmark = pytest.mark.machine

NAME, IMAGE = "saltern-t-web", "busybox:1.36"
Salt = Callable[..., Any]


@pytest.fixture
def salt(containers: Bench) -> Salt:
    return lambda fun, /, *args, **kwargs: containers.salt[f"docker.{fun}"](*args, **kwargs)


@pytest.fixture
def web(salt: Salt) -> str:
    """A container that runs."""
    made = salt("create", IMAGE, name=NAME, command=["sh", "-c", "echo up; sleep 600"], ports=80, start=True)
    assert made["Name"] == NAME and made["Started"]
    return str(made["Id"])


def test_the_engine_tells_of_itself(salt: Salt) -> None:
    told = salt("version")
    assert told["VersionInfo"][0] >= 20 and told["ApiVersionInfo"] >= [1, 40]
    assert salt("info")["Driver"] == "vfs"


def test_containers_are_listed_and_looked_at(salt: Salt, web: str) -> None:
    assert salt("list_containers") == [NAME]
    assert salt("ps")[web]["Names"] == [NAME]
    assert salt("ps", filters={"name": "other"}) == {}
    assert salt("ps", verbose=True)[web]["Info"]["Id"] == web
    assert salt("exists", NAME) and not salt("exists", "saltern-t-none")
    assert salt("state", NAME) == "running"
    assert salt("inspect_container", NAME)["Id"] == web
    assert salt("pid", NAME) > 1
    assert any("sleep 600" in row["CMD"] for row in salt("top", NAME))
    assert salt("port", NAME, 80) == salt("port", "saltern-t-w*", "80")[NAME]
    salt("run", NAME, "touch /new")
    assert salt("diff", NAME) == {"Added": ["/new"]}
    assert salt("logs", NAME, tail="1") == "up\n"
    with pytest.raises(Refused, match="there is no container 'saltern-t-none'"):
        salt("state", "saltern-t-none")


def test_commands_run_inside(salt: Salt, web: str) -> None:
    assert salt("run", NAME, "echo 'two words'") == "two words"
    assert salt("run", NAME, "wc -c", stdin="12345") == "5"
    assert salt("run_stdout", NAME, ["sh", "-c", "echo out; echo err >&2"]) == "out"
    assert salt("run_stderr", NAME, "sh -c 'echo out; echo err >&2'") == "err"
    assert salt("retcode", NAME, "sh -c 'exit 7'") == 7
    done = salt("run_all", NAME, "id", user="web")
    assert done["retcode"] == 0 and done["stdout"].startswith("uid=1000")


def test_states_change(salt: Salt, web: str) -> None:
    assert salt("pause", NAME) == {"result": True, "state": {"old": "running", "new": "paused"}}
    assert salt("stop", NAME)["result"] is False
    assert salt("unpause", NAME)["state"]["new"] == "running"
    assert salt("freeze", NAME)["result"] and salt("unfreeze", NAME)["result"]
    assert salt("restart", NAME, timeout=0)["restarted"]
    assert salt("signal", NAME, "SIGCONT") is True
    assert salt("kill", NAME)["state"] == {"old": "running", "new": "stopped"}
    assert salt("pause", NAME)["comment"] == f"Container '{NAME}' is stopped, cannot pause"
    assert salt("unpause", NAME)["result"] is False
    assert salt("wait", NAME)["result"] is False
    assert salt("wait", NAME, ignore_already_stopped=True)["exit_status"] == 137
    assert salt("start", NAME)["result"]
    assert salt("start", NAME)["comment"] == f"Container '{NAME}' already running"
    assert salt("stop", NAME, timeout=0)["result"]
    assert salt("rename", NAME, f"{NAME}-2") is True
    assert salt("rm", f"{NAME}-2") == [web]
    assert salt("list_containers", all=True) == []


def test_a_container_runs_to_its_end(salt: Salt) -> None:
    done = salt("run_container", IMAGE, command="echo hello", rm=True)
    assert (done["ExitCode"], done["Logs"]) == (0, "hello\n")
    done = salt("run_container", IMAGE, name=NAME, command="sleep 600", bg=True)
    assert done["Name"] == NAME
    assert salt("rm", NAME, stop=True, timeout=0)
    with pytest.raises(BadArgument, match="did you mean 'command'"):
        salt("create", IMAGE, comand="true")


def test_files_go_in_and_out(salt: Salt, web: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"\0text")
    assert salt("copy_to", NAME, str(source), "/deep/er/file", makedirs=True)
    with pytest.raises(Refused, match="set overwrite"):
        salt("copy_to", NAME, str(source), "/deep/er/file")
    assert salt("copy_from", NAME, "/deep/er/file", str(tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == b"\0text"
    with pytest.raises(Refused, match="set overwrite"):
        salt("copy_from", NAME, "/deep/er/file", str(tmp_path / "back"))
    with pytest.raises(Refused, match="is not a file"):
        salt("copy_from", NAME, "/deep", str(tmp_path / "folder"))
    told = salt("export", NAME, str(tmp_path / "a" / "web.tgz"), makedirs=True, compression="gzip")
    with tarfile.open(told["Path"]) as archive:
        assert "deep/er/file" in archive.getnames()


def test_images_are_looked_at_and_moved(salt: Salt, web: str, tmp_path: Path) -> None:
    key = salt("resolve_image_id", IMAGE)
    assert salt("images")[key]["RepoTags"] == [IMAGE]
    assert salt("images", verbose=True)[key]["Info"]["Id"] == key
    assert salt("list_tags") == [IMAGE]
    assert salt("inspect", IMAGE)["Id"] == salt("inspect_image", key)["Id"] == key
    assert salt("resolve_image_id", "saltern-t/none") is False is salt("resolve_tag", "saltern-t/none")
    assert salt("resolve_tag", key[7:19]) == IMAGE and salt("resolve_tag", IMAGE, all=True) == [IMAGE]
    assert len(salt("layers", IMAGE)) == len(salt("history", IMAGE)) == 1
    assert salt("depends", IMAGE) == {"Containers": [NAME], "Images": []}
    archive = tmp_path / "root.tar"
    archive.write_bytes(root_files())
    made = salt("import", str(archive), "saltern-t/root", "1")
    assert salt("save", "saltern-t/root:1", str(tmp_path / "saved.tar"))["Size"] > 1_000_000
    assert salt("rmi", "saltern-t/root:1")["Tags"] == ["saltern-t/root:1"]
    assert salt("load", str(tmp_path / "saved.tar"))["Images"] == ["saltern-t/root:1"]
    assert salt("resolve_image_id", "saltern-t/root:1") == made["Id"]
    assert salt("commit", NAME, "saltern-t/web", "1", message="m")["Image"] == "saltern-t/web:1"
    (tmp_path / "Dockerfile").write_text(f"FROM {IMAGE}\nLABEL saltern=t\n")
    (tmp_path / ".dockerignore").write_text("*\n")
    built = salt("build", str(tmp_path), repository="saltern-t/web", tag="1")
    assert built["Id"] == salt("resolve_image_id", "saltern-t/web:1")
    (orphan,) = salt("dangling")
    assert salt("dangling", prune=True) == {orphan: {"Removed": True}}


def test_networks_and_volumes(salt: Salt, web: str) -> None:
    made = salt("create_network", "saltern-t-net", subnet="10.231.9.0/24", labels="a=b")
    assert salt("inspect", "saltern-t-net")["Id"] == salt("inspect_network", made["Id"])["Id"] == made["Id"]
    assert [one["Name"] for one in salt("networks", names="saltern-t-net")] == ["saltern-t-net"]
    assert salt("connect_container_to_network", NAME, "saltern-t-net", ipv4_address="10.231.9.7")
    assert salt("connected", "saltern-t-net") == [NAME]
    assert salt("connected", "saltern-t-net", verbose=True)[web]["IPv4Address"] == "10.231.9.7/24"
    assert salt("disconnect_container_from_network", NAME, "saltern-t-net")
    salt("connect_container_to_network", NAME, "saltern-t-net")
    assert salt("disconnect_all_containers_from_network", "saltern-t-net") == [NAME]
    assert salt("remove_network", "saltern-t-net")
    assert salt("create_volume", "saltern-t-data")["Driver"] == "local"
    assert salt("inspect", "saltern-t-data") == salt("inspect_volume", "saltern-t-data")
    assert [one["Name"] for one in salt("volumes", filters={"dangling": True})["Volumes"]] == [
        "saltern-t-data"
    ]
    assert salt("remove_volume", "saltern-t-data")
    for kind in ("network", "volume"):
        with pytest.raises(Refused, match=f"there is no {kind} 'saltern-t-none'"):
            salt(f"inspect_{kind}", "saltern-t-none")
    with pytest.raises(Refused, match="there is no container, image, volume or network"):
        salt("inspect", "saltern-t-none")


def test_what_nobody_uses_is_pruned(salt: Salt, web: str, engine: Engine) -> None:
    salt("kill", NAME)
    salt("create_volume", "saltern-t-data")
    told = salt("prune", containers=True, volumes=True)
    assert told["containers"]["ContainersDeleted"] == [web]
    assert told["volumes"]["VolumesDeleted"] == ["saltern-t-data"]
    salt("create_network", "saltern-t-net")
    assert salt("prune").keys() == {"containers", "networks", "images", "build"}
