"""``saltern orchestrate SLS --roster hosts.yaml``: over SSH, without a controller."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.ssh.server import Server

FILES = {
    "step.sls": "note:\n  cmd.run:\n    - name: echo {{ pillar['part'] }} >> {{ pillar['place'] }}\n",
    "parts.sls": "ping:\n  salt.function:\n    - name: test.ping\n    - tgt: '*'\n\n"
    "one:\n  salt.state:\n    - tgt: web1\n    - sls: step\n"
    "    - pillar: {part: one, place: {{ pillar['place'] }}}\n    - require:\n      - salt: ping\n"
    "    - register: first\n\n"
    "two:\n  salt.function:\n    - name: test.echo\n    - tgt: web2\n"
    "    - arg: ['${delayed:first.data.jid}']\n\n"
    "none:\n  salt.state:\n    - tgt: db*\n    - sls: step\n\n"
    "own:\n  salt.runner:\n    - name: own.hello\n\n"
    "controller:\n  salt.runner:\n    - name: manage.up\n",
    "_runners/own.py": "def hello():\n    return 'hello'\n",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("sshd")).start()
    yield running
    running.stop()


def test_an_orchestration_over_ssh(server: Server, tmp_path: Path) -> None:
    for name, text in FILES.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    host = {
        "host": "127.0.0.1",
        "port": server.port,
        "priv": str(server.key),
        "python": sys.executable,
        "ssh_options": [f"UserKnownHostsFile={server.known_hosts}", "IdentityAgent=none"],
    }
    hosts = {name: {**host, "thin_dir": str(tmp_path / "bases" / name)} for name in ("web1", "web2")}
    (tmp_path / "hosts.yaml").write_text(json.dumps(hosts))
    words = ["--roster", tmp_path / "hosts.yaml", "--file-root", tmp_path / "tree", "--out", "json"]
    words += ["--pillar", f"{{place: {tmp_path / 'place'}}}"]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "saltern", "orchestrate", "parts", *map(str, words)],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 2, done
    found = {one["__id__"]: one for one in json.loads(done.stdout)["local"].values()}
    assert found["ping"]["changes"] == {"ret": {"web1": True, "web2": True}}
    assert (tmp_path / "place").read_text() == "one\n"
    assert found["two"]["changes"]["ret"]["web2"] == found["one"]["data"]["jid"]
    assert found["none"]["comment"] == "No minions returned"
    assert found["own"]["changes"] == {"return": "hello"}
    assert "needs a controller" in found["controller"]["comment"]
