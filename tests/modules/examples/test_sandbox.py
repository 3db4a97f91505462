"""What holds of the sandboxes themselves, and of how examples are read."""

from __future__ import annotations

import os

import pytest
from tests.modules.examples import running
from tests.modules.examples.reading import agrees, steps
from tests.modules.examples.zygote import TRIAL, Client


@pytest.mark.machine
def test_nothing_of_a_sandbox_reaches_the_machine(zygote: Client) -> None:
    name = os.uname().nodename
    assert zygote.ask(TRIAL) == {"succeeded": ["write a file", "name the machine"], "processes": 2}
    assert not os.path.exists(running.TRACE)
    assert os.uname().nodename == name


def test_a_transcript_is_commands_and_what_they_print() -> None:
    text = "$ saltern call a.b \\\n    c=d\nlocal:\n    1\n$ saltern call e.f"
    assert steps(text) == [("saltern call a.b     c=d", "local:\n    1\n"), ("saltern call e.f", "")]


@pytest.mark.parametrize(
    ("said", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\n", False),
        ("", "whatever", True),
        ("a\n…", "a\nb\nc\n", True),
        ("a\n…\nc", "a\nc\n", True),
        ("a …", "a b\nc\n", False),
        ("1.…", "1.25\n", True),
        ("a", "a \n", True),
    ],
)
def test_dots_stand_for_what_differs(said: str, printed: str, same: bool) -> None:
    assert agrees(said, printed) is same
