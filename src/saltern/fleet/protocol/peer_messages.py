"""Messages between systems: values of the mine, and functions on other systems."""

from __future__ import annotations

from typing import Any

from saltern.fleet.protocol.message import Id, Jid, Message, Nonce, Text, Word


class MineAnswer(Message, frozen=True, kw_only=True):
    """What other systems have put into the mine: by function, then by id."""

    data: dict[str, Any] = {}
    problem: Text = ""


class PublishAnswer(Message, frozen=True, kw_only=True):
    """The job or the runner that a system requested. ``systems``: those that are expected to answer;
    ``returns``: the returns so far; ``done``: no more will come. ``refused``: no rule
    allows it.
    """

    jid: Jid | None = None
    systems: list[Id] = []
    returns: dict[str, Any] = {}
    done: bool = False
    refused: Text = ""
    problem: Text = ""


class MineRequest(Message, frozen=True, kw_only=True):
    """Put something into the mine (``store``, by function), remove it, or ask for what others have put there.

    ``allowed``: for a function the target of the systems that may read it. ``clear``: other values are
    removed.
    """

    nonce: Nonce
    store: dict[str, Any] = {}
    function: Word = ""
    target: Text = ""
    matcher: Word = "glob"
    functions: list[Word] = []
    allowed: dict[str, Any] = {}
    remove: list[Word] = []
    clear: bool = False


class PublishRequest(Message, frozen=True, kw_only=True):
    """Ask for a function on other systems, or with ``runner`` for a runner on a controller; with ``jid`` for
    the result of an earlier request. ``parent`` is the requesting job.
    """

    nonce: Nonce
    function: Word = ""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    target: Text = ""
    matcher: Word = "glob"
    runner: bool = False
    parent: Jid | None = None
    jid: Jid | None = None
