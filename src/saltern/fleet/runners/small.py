"""``test``, ``error`` and ``event``: runners of a few lines."""

from __future__ import annotations

import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from saltern.fleet.runners.ports import Around, runner_problem

WORDS = {
    "us": [
        "foo",
        "bar",
        "baz",
        "qux",
        "quux",
        "quuz",
        "corge",
        "grault",
        "garply",
        "waldo",
        "fred",
        "plugh",
        "xyzzy",
        "thud",
    ],
    "nl": ["aap", "noot", "mies"],
}


def arg(_around: Around, *args: object, **kwargs: object) -> dict[str, Any]:
    """The arguments, as they came."""
    return {"args": list(args), "kwargs": kwargs}


def sleep(_around: Around, s_time: float = 10) -> bool:
    """Wait, and return True."""
    time.sleep(float(s_time))
    return True


def stdout_print(_around: Around) -> str:
    """Print and return a word."""
    print("foo")
    return "bar"


def metasyntactic(_around: Around, locality: str = "us") -> list[str]:
    """Return metasyntactic words."""
    return list(WORDS.get(locality, WORDS["us"]))


def error(_around: Around, name: str | None = None, message: str = "") -> object:
    """Fail with a message."""
    raise runner_problem(f"{name}: {message}" if name else message or "error.error was called")


def send(around: Around, tag: str, data: dict[str, Any] | None = None) -> bool:
    """Send a custom event."""
    sender: Callable[..., object] | None = getattr(around.ask, "send_event", None)
    if sender is None:
        raise runner_problem("this controller takes no events")
    token = sha256(f"{around.jid}/{around.token}".encode()).hexdigest() if around.token else ""
    sender(tag, data or {}, cause=around.jid, client_token=token)
    return True


RUNNERS: dict[str, Callable[..., object]] = {
    "test.arg": arg,
    "test.raw_arg": arg,
    "test.sleep": sleep,
    "test.stdout_print": stdout_print,
    "test.metasyntactic": metasyntactic,
    "error.error": error,
    "event.send": send,
}
