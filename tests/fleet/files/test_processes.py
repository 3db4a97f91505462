"""A controller and two agents as processes: files and pillar of a fleet, as a user has them."""

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

pytestmark = [pytest.mark.slow]

PROGRAM = [sys.executable, "-P", "-m", "saltern"]


class Fleet:
    """Everything below one directory; roots are ``c/salt`` and ``c/pillar``."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.salt, self.pillar = place / "c" / "salt", place / "c" / "pillar"
        self._started: list[subprocess.Popen[bytes]] = []

    def write(self, root: Path, **files: str) -> None:
        for name, text in files.items():
            path = root / f"{name.replace('__', '/')}.sls"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def start(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        with (self.place / f"{name}.out").open("ab") as out, (self.place / f"{name}.err").open("ab") as err:
            process = subprocess.Popen([*PROGRAM, *words], stdout=out, stderr=err, cwd="/")
        self._started.append(process)
        return process

    def text(self, name: str) -> str:
        path = self.place / name
        return path.read_text() if path.exists() else ""

    def run(self, *words: str, ok: bool = True) -> str:
        done = subprocess.run(
            [*PROGRAM, *words],
            env={**os.environ, "SALTERN_CONTROLLER": str(self.place / "c" / "controller.sock")},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert not ok or done.returncode == 0, done.stdout + done.stderr
        return done.stdout + ("" if ok else done.stderr)

    def json(self, *words: str) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.run(*words, "--out=json"))
        return found

    def controller(self) -> str:
        """Start it; the token of the first start."""
        self.start("c", "controller", "--directory", str(self.place / "c"))
        until(lambda: "saltern: ready" in self.text("c.err"), lambda: self.text("c.err"))
        return self.text("c.out").split()[-1]

    def new_token(self) -> str:
        said = self.run("fleet", "tokens", "new")
        return next(word for word in said.split() if word.startswith("saltern-join-"))

    def join(self, token: str, name: str) -> subprocess.Popen[bytes]:
        directory = str(self.place / name)
        self.run("agent", "join", token, "--id", name, "--directory", directory)
        return self.agent(name)

    def agent(self, name: str) -> subprocess.Popen[bytes]:
        return self.start(name, "agent", "run", "--directory", str(self.place / name))

    def stop(self) -> None:
        for process in reversed(self._started):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(15)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def until(true: Callable[[], object], why: Callable[[], str] = str, limit: float = 40.0) -> None:
    end = time.monotonic() + limit
    while not true():
        assert time.monotonic() < end, why()
        time.sleep(0.05)


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(tmp_path)
    made.salt.mkdir(parents=True)
    made.pillar.mkdir()
    yield made
    made.stop()


def test_files_and_pillar_of_a_fleet(fleet: Fleet) -> None:
    out = fleet.place / "out"
    fleet.write(
        fleet.salt,
        top="base: {'*': [web]}\n",
        web__init=(
            "{% from 'web/map.jinja' import where with context %}\n"
            "{{ where }}/motd:\n  file.managed:\n    - source: salt://web/files/motd.tmpl\n"
            "    - template: jinja\n    - makedirs: true\n    - mode: keep\n"
            "{{ where }}/all:\n  file.recurse:\n    - source: salt://web/files\n    - file_mode: keep\n"
            "own:\n  test.show_notification:\n    - text: {{ salt['own.answer']() }}\n"
        ),
    )
    (fleet.salt / "web" / "files").mkdir()
    (fleet.salt / "web" / "map.jinja").write_text(f"{{% set where = '{out}/' ~ grains.id %}}")
    (fleet.salt / "web" / "files" / "motd.tmpl").write_text("{{ pillar.motd }}\n")
    (fleet.salt / "web" / "files" / "motd.tmpl").chmod(0o640)
    (fleet.salt / "web" / "files" / "big").write_bytes(os.urandom(1_500_000))
    (fleet.salt / "_modules").mkdir()
    (fleet.salt / "_modules" / "own.py").write_text("def answer():\n    return 42\n")
    fleet.write(
        fleet.pillar,
        top="base: {'web1': [one], 'web2': [two]}\n",
        one="motd: of one {{ grains.id }}\n",
        two="motd: two's\nhidden: unseen-s3cret\n",
    )
    token = fleet.controller()
    fleet.join(token, "web1")
    fleet.join(fleet.new_token(), "web2")
    until(lambda: fleet.run("fleet", "systems").count("web") >= 2)
    until(lambda: set(fleet.json("call", "test.ping", "--on", "*", "--wait", "60")) == {"web1", "web2"})

    fleet.run("apply", "--on", "*")
    texts = [(out / name / "motd").read_text() for name in ("web1", "web2")]
    assert texts[0] == "of one web1\n" and texts[1] == "two's\n"
    for name in ("web1", "web2"):
        assert (out / name / "all" / "big").read_bytes() == (fleet.salt / "web/files/big").read_bytes()
        assert (out / name / "motd").stat().st_mode & 0o777 == 0o640
    assert fleet.json("call", "pillar.get", "motd", "--on", "*")["web2"] == "two's"
    assert fleet.json("call", "own.answer", "--on", "web1") == {"web1": 42}
    listed = fleet.json("call", "cp.list_master", "--on", "web1")["web1"]
    files = [path.relative_to(fleet.salt).as_posix() for path in fleet.salt.rglob("*") if path.is_file()]
    assert listed == sorted(files)

    written = [path for name in ("c/controller", "web1", "web2") for path in (fleet.place / name).rglob("*")]
    assert not [path for path in written if path.is_file() and b"unseen-s3cret" in path.read_bytes()]

    fleet.write(fleet.pillar, two="motd: {{ nothing.here }} # s3cret\n")
    said = fleet.run("apply", "--on", "web2", ok=False)
    assert "pillar/two.sls:1" in said and "s3cret" not in said


def test_versions_of_trees_from_the_command_line(fleet: Fleet) -> None:
    fleet.write(fleet.salt, a="one: test.nop\n")
    fleet.join(fleet.controller(), "web1")
    until(lambda: "web1" in fleet.run("fleet", "systems"))
    show = ("show", "sls", "a", "--on", "*", "--wait", "60")
    assert "one" in str(fleet.json(*show)["web1"])
    fleet.write(fleet.salt, a="two: test.nop\n", b="new: test.nop\n")
    assert "two" in str(fleet.json(*show)["web1"])
    log = json.loads(fleet.run("tree", "log", "--out=json"))
    assert [row["files"] for row in log] == [2, 1]
    assert "added    b.sls" in fleet.run("tree", "diff") and "changed  a.sls" in fleet.run("tree", "diff")
    said = fleet.run("tree", "rollback", "base", log[1]["digest"][:8])
    assert log[1]["digest"][:12] in said
    assert "one" in str(fleet.json(*show)["web1"])
    assert "held" in fleet.run("tree")
    assert "'zzz' is not the beginning" in fleet.run("tree", "rollback", "base", "zzz", ok=False)
    assert "no version begins with 'ffff0'" in fleet.run("tree", "rollback", "base", "ffff0", ok=False)
    fleet.run("tree", "follow")
    assert "two" in str(fleet.json(*show)["web1"])
    assert "tree.rollback" in fleet.run("audit")
