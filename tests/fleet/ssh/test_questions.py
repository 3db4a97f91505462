"""Sessions that follow the same job: the worker finds one that answers, whichever of them end."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from saltern.fleet.ssh.remote import questions
from saltern.fleet.ssh.remote.questions import QuestionSocket
from saltern.sources.agent_socket import ask


@pytest.fixture(autouse=True)
def look_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "EVERY", 0.0)


def session(path: Path, name: str) -> QuestionSocket:
    found = QuestionSocket(str(path), lambda question: {"by": name, **question})
    found.start()
    return found


def asked(path: Path) -> object:
    return ask(str(path), {"ask": "x"}, wait=5)["by"]


def test_the_last_one_answers_and_the_first_one_again_when_it_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "job.sock"
    one, two = session(path, "one"), session(path, "two")
    try:
        one.keep()  # the other one listens: it is left alone
        assert asked(path) == "two"
        two.close()
        one.keep()
        assert asked(path) == "one"
    finally:
        one.close()
    assert os.listdir(tmp_path) == []


def test_one_that_was_killed_leaves_a_path_at_which_no_one_listens(tmp_path: Path) -> None:
    path = tmp_path / "job.sock"
    one = session(path, "one")
    os.remove(path)
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(path))
    try:
        one.keep()
        assert asked(path) == "one"
    finally:
        one.close()


def test_one_that_ends_leaves_the_socket_of_another(tmp_path: Path) -> None:
    path = tmp_path / "job.sock"
    one, two = session(path, "one"), session(path, "two")
    try:
        one.close()
        assert asked(path) == "two"
    finally:
        two.close()
