"""Questions to the agent on this machine."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from saltern.fleet.agent.socket import ask_agent
from saltern.language.diagnostics import OperationError

START = "start it: saltern agent run, or systemctl start saltern-agent"


def refusal(path: Path) -> tuple[str, str]:
    with pytest.raises(OperationError) as refused:
        ask_agent(str(path), {"ask": "status"})
    problem = refused.value.diagnostics[0]
    assert problem.code == "agent-away"
    return problem.what.removeprefix(f"no agent answers at {path}: "), problem.fix


def test_an_agent_that_does_not_run_is_said_in_words(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.sock") == ("there is no such socket", START)
    with socket.socket(socket.AF_UNIX) as left:  # by an agent that was killed
        left.bind(str(tmp_path / "left.sock"))
    assert refusal(tmp_path / "left.sock") == ("Connection refused", START)


def test_who_may_not_ask_it_is_not_advised_to_start_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_self: socket.socket, _path: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert refusal(tmp_path / "agent.sock") == ("this user may not use its socket", "use sudo")
