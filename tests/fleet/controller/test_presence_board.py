"""The board of connected systems: what a system sent last does not bring it back."""

from __future__ import annotations

from saltern.fleet.broker.presence import ClientEvent
from saltern.fleet.controller.presence import LATE, PresenceBoard


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def event(connected: bool, connection: str) -> ClientEvent:
    return ClientEvent(name="", system="web1", label="", host="", connection=connection, connected=connected)


def test_a_request_that_is_answered_after_the_end_of_its_connection_opens_none() -> None:
    clock = Clock()
    board = PresenceBoard(clock)
    board.on_client(event(True, "c1"))
    board.on_client(event(False, "c1"))
    board.heard("web1")
    assert not board.is_online("web1")
    board.on_client(event(True, "c2"))  # it is back at once
    assert board.is_online("web1")


def test_a_request_opens_a_connection_of_which_the_broker_reported_nothing() -> None:
    clock = Clock()
    board = PresenceBoard(clock)
    board.heard("web1")
    assert board.is_online("web1")
    board.on_client(event(False, "c1"))
    clock.now += LATE
    board.heard("web1")
    assert board.is_online("web1")
