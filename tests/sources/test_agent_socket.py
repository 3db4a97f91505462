"""Questions to an agent that is restarted while it works on them."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from saltern.language.diagnostics import OperationError
from saltern.sources.agent_socket import STEP, ask

WAIT = 10 * STEP
HELD = 0.75 * WAIT  # seconds for which an agent works on a question before it is killed
QUESTION: dict[str, object] = {"ask": "pillar"}


@contextmanager
def agent(path: str, deaths: int) -> Iterator[None]:
    """An agent that is killed that often while it works on a question, and then answers."""

    def serve() -> None:
        for number in range(deaths + 1):
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(path)
                listening.listen()
                line, _ = listening.accept()
                with line:
                    line.recv(1024)
                    if number < deaths:
                        time.sleep(HELD)
                    else:
                        line.sendall(b'{"pillar": "x"}\n')
            os.unlink(path)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield
    thread.join()


def test_the_time_in_which_an_agent_works_does_not_count_as_absence(tmp_path: Path) -> None:
    with agent(str(tmp_path / "s"), deaths=2):
        assert ask(str(tmp_path / "s"), QUESTION, wait=WAIT, most=600.0) == {"pillar": "x"}


@pytest.mark.parametrize("most", [0.0, 600.0])
def test_an_agent_that_is_away_is_given_up(tmp_path: Path, most: float) -> None:
    with pytest.raises(OperationError) as problem:
        ask(str(tmp_path / "none"), QUESTION, wait=STEP, most=most)
    assert problem.value.diagnostics[0].code == "agent-away"


def test_there_is_a_limit_for_an_agent_that_each_question_kills(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with agent(path, deaths=1):
        with pytest.raises(OperationError) as problem:
            ask(path, QUESTION, wait=2 * STEP, most=2.5 * STEP)
        assert problem.value.diagnostics[0].code == "agent-away"
        assert ask(path, QUESTION, wait=600.0) == {"pillar": "x"}  # which ends the agent
