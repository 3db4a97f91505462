"""``saltern orchestrate SLS --roster hosts.yaml``: over SSH from a laptop, without a controller."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.fleet.ssh.server import Server

LIMIT = 180  # seconds for a command
FILES = {
    "step.sls": "note:\n  cmd.run:\n    - name: echo {{ pillar['part'] }} >> {{ pillar['place'] }}\n",
    "parts.sls": "ping:\n  salt.function:\n    - name: test.ping\n    - tgt: '*'\n\n"
    "one:\n  salt.state:\n    - tgt: web1\n    - sls: step\n"
    "    - pillar: {part: one, place: {{ pillar['place'] }}}\n    - require:\n      - salt: ping\n"
    "    - register: first\n\n"
    "two:\n  salt.function:\n    - name: test.echo\n    - tgt: web2\n"
    "    - arg: ['${delayed:first.data.jid}']\n    - ret: note\n"
    "    - ret_kwargs: {to: {{ pillar['place'] }}.note}\n\n"
    "none:\n  salt.state:\n    - tgt: db*\n    - sls: step\n\n"
    "own:\n  salt.runner:\n    - name: own.hello\n\n"
    "controller:\n  salt.runner:\n    - name: manage.up\n",
    "_runners/own.py": "def hello():\n    return 'hello'\n",
    "slow.sls": "note:\n  cmd.run:\n    - name: echo {{ pillar['part'] }} >> {{ pillar['place'] }};"
    " sleep 2; echo end {{ pillar['part'] }} >> {{ pillar['place'] }}\n",
    "long.sls": "first:\n  salt.state:\n    - tgt: web1\n    - sls: slow\n"
    "    - pillar: {part: first, place: {{ pillar['place'] }}}\n"
    "    - delayed_render:\n      - block: second\n\n"
    "#!delayed_block second\n"
    "after {{ prev_ret.data.ret | list | first }}:\n  salt.state:\n    - tgt: web2\n    - sls: slow\n"
    "    - pillar: {part: second, place: {{ pillar['place'] }}}\n"
    "#!end_delayed_block\n",
}


class Laptop:
    """Who types, with a tree and a roster of two hosts."""

    def __init__(self, server: Server, place: Path) -> None:
        self.place = place
        for name, text in FILES.items():
            path = place / "tree" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        host = {
            "host": "127.0.0.1",
            "port": server.port,
            "priv": str(server.key),
            "python": sys.executable,
            "ssh_options": [f"UserKnownHostsFile={server.known_hosts}", "IdentityAgent=none"],
        }
        hosts = {name: {**host, "thin_dir": str(place / "bases" / name)} for name in ("web1", "web2")}
        (place / "hosts.yaml").write_text(json.dumps(hosts))
        self._env = {"PATH": os.environ["PATH"], "HOME": str(place)}

    def command(self, *words: str) -> list[str]:
        tree = ["--file-root", str(self.place / "tree"), "--out", "json"]
        return [sys.executable, "-P", "-m", "saltern", "orchestrate", *words, *tree]

    def roster(self, sls: str) -> list[str]:
        pillar = f"{{place: {self.place / 'place'}}}"
        return self.command(sls, "--roster", str(self.place / "hosts.yaml"), "--pillar", pillar)

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, env=self._env, capture_output=True, text=True, timeout=LIMIT, check=False
        )

    def begin(self, command: list[str]) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, env=self._env, stdout=quiet, stderr=quiet, start_new_session=True)

    def lines(self) -> list[str]:
        path = self.place / "place"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("sshd")).start()
    yield running
    running.stop()


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


def test_an_orchestration_over_ssh(server: Server, tmp_path: Path) -> None:
    laptop = Laptop(server, tmp_path)
    (tmp_path / "tree" / "_returners").mkdir()
    (tmp_path / "tree" / "_returners" / "note.py").write_text(
        "def returner(ret):\n    open(ret['ret_kwargs']['to'], 'a').write(ret['id'] + ret['return'])\n"
    )
    done = laptop.run(laptop.roster("parts"))
    assert done.returncode == 2, done
    found = {one["__id__"]: one for one in json.loads(done.stdout)["local"].values()}
    assert found["ping"]["changes"] == {"ret": {"web1": True, "web2": True}}
    assert laptop.lines() == ["one"]
    assert found["two"]["changes"]["ret"]["web2"] == found["one"]["data"]["jid"]
    assert (tmp_path / "place.note").read_text() == f"web2{found['one']['data']['jid']}"
    assert found["none"]["comment"] == "No minions returned"
    assert found["own"]["changes"] == {"return": "hello"}
    assert "needs a controller" in found["controller"]["comment"]


@pytest.mark.parametrize("seen", ["first", "second"])
def test_a_laptop_that_is_closed_continues_later_and_does_nothing_twice(
    server: Server, tmp_path: Path, seen: str
) -> None:
    """All of the command and its connections are killed; what runs on a host runs to its end there."""
    laptop = Laptop(server, tmp_path)
    process = laptop.begin(laptop.roster("long"))
    until(lambda: seen in laptop.lines())
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = laptop.run(laptop.command("--resume"))
    assert done.returncode == 0, done
    assert laptop.lines() == ["first", "end first", "second", "end second"]
    ids = [one["__id__"] for one in json.loads(done.stdout)["local"].values()]
    assert [ids.count(name) for name in ("first", "after web1", "web1", "web2")] == [1, 1, 1, 1]
    assert "nothing to resume" in laptop.run(laptop.command("--resume")).stderr
