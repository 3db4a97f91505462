"""The commands of docs/guides/api.md, run against a controller and an agent as processes of their own."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.controller.processes import ControllerProcess, saltern, wait_for
from tools.examples import ROOT

pytestmark = [pytest.mark.slow]
GUIDE = ROOT / "docs" / "guides" / "api.md"
SOCKET = "/run/saltern/controller.sock"


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[ControllerProcess]:
    """A controller with one system, web1."""
    made = ControllerProcess(tmp_path / "c", "host: 127.0.0.1\nport: 0\napi:\n  port: 0\n")
    agent: subprocess.Popen[bytes] | None = None
    try:
        made.start()
        where = ("--directory", str(tmp_path / "a"))
        saltern("agent", "join", made.client.tokens.make(), *where, "--id", "web1")
        agent = subprocess.Popen(
            [sys.executable, "-m", "saltern", "agent", "run", *where], stderr=subprocess.DEVNULL
        )
        wait_for(lambda: [one for one in made.client.systems.list(target="G@kernel:Linux") if one["online"]])
        yield made
    finally:
        if agent is not None:
            agent.terminate()
            agent.wait()
        made.stop()
        made.clean_up()


def steps() -> list[tuple[str, str]]:
    """Each command of the guide with the output that it shows."""
    text = "\n".join(re.findall(r"^```console\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE))
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(command, shown.strip()) for command, _, shown in (part.partition("\n") for part in parts)]


def pattern(shown: str) -> str:
    """What is shown, with ``…`` for anything."""
    return ".*".join(map(re.escape, shown.split("…")))


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_commands_of_the_guide_print_what_it_says(controller: ControllerProcess, tmp_path: Path) -> None:
    script = ["set -e"]
    for number, (command, _) in enumerate(steps()):
        script += [f"echo '<<{number}>>'", command.replace(SOCKET, controller.socket), "echo"]
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=work, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    printed = re.split(r"^<<\d+>>$", done.stdout, flags=re.MULTILINE)[1:]
    for (command, shown), text in zip(steps(), printed, strict=True):
        assert re.fullmatch(pattern(shown), text.strip(), re.DOTALL), f"{command}\n{text}"


def test_the_python_of_the_guide_works(controller: ControllerProcess) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    done = subprocess.run(
        [sys.executable, "-c", code.replace(SOCKET, controller.socket)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "status web1" in lines and lines[-2:] == ["ended ", "web1 True"]
