"""The process of a command that the extension runs: its time limit, its lines, its questions."""

from __future__ import annotations

import importlib.util
import json
import socket
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.salt_fleet.conftest import EXTENSION

PATH = EXTENSION / "saltext" / "saltern" / "utils" / "saltern_process.py"


@pytest.fixture(scope="module")
def process() -> ModuleType:
    spec = importlib.util.spec_from_file_location("saltern_process", PATH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(
    process: ModuleType, folder: Path, script: str, limit: float | None = None
) -> tuple[Any, list[str], list[Any]]:
    """The result of a command, its lines as they were handed on, and what it asked."""
    lines: list[str] = []
    asked = []
    command = process.start(["sh", "-c", script, str(folder)], str(folder), (), limit)
    for _, question, reply in command.questions(lines.append):
        asked.append(question)
        reply({"answer": question["ask"]})
    return command.result(), lines, asked


def test_after_the_time_limit_the_command_is_asked_to_end(process: ModuleType, tmp_path: Path) -> None:
    script = "trap 'echo ended; exit 7' TERM; while :; do sleep 0.05; done"
    (code, output, _), _, _ = run(process, tmp_path, script, 0.2)
    assert (code, output) == (7, "ended\n")


def test_lines_are_handed_on_in_their_order_and_none_is_lost(process: ModuleType, tmp_path: Path) -> None:
    (code, output, errors), lines, _ = run(
        process, tmp_path, "for n in 1 2 3; do echo $n; done; printf end; echo e >&2"
    )
    assert (code, output, errors) == (0, "1\n2\n3\nend", "e\n")
    assert lines == ["1", "2", "3"]  # what has no end yet is no line


ASK = """\
import json, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect(sys.argv[1] + "/socket")
    line.sendall(json.dumps({"ask": "file"}).encode() + b"\\n")
    print(line.makefile().readline().strip())
"""


def test_questions_are_answered_until_the_command_ends(process: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "ask.py").write_text(ASK)
    (code, output, errors), _, asked = run(process, tmp_path, 'python3 "$0/ask.py" "$0"')
    assert (code, asked) == (0, [{"ask": "file"}]), errors
    assert json.loads(output) == {"answer": "file"}
    assert not process.is_served(str(tmp_path))


def test_a_folder_is_served_while_a_process_listens(process: ModuleType, tmp_path: Path) -> None:
    assert not process.is_served(str(tmp_path))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{tmp_path}/socket")
        listener.listen()
        assert process.is_served(str(tmp_path))
