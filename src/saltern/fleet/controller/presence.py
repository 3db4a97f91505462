"""Which systems are connected, in memory: from the broker's reports, from syncs, and from pokes.

A system counts as connected while one of its connections is open. The database gets the changes in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from saltern.fleet.broker.presence import ClientEvent

FRESH = 5.0  # seconds for which a system that has answered a poke counts as connected without another
LATE = 5.0  # seconds after the end of a connection in which what it sent may still be worked on
POKED = "poke"  # stands for a connection that is known to exist, but not by its name


class Changes(Struct, frozen=True):
    """The systems that connected and disconnected since the last call."""

    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()


class PresenceBoard:
    """``is_known``: the board was filled once, so a system that is not on it is away. ``without_agent``:
    whether a system without an agent can be reached; None for one with an agent.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.is_known = False
        self.without_agent: Callable[[str], bool | None] = lambda _system: None
        self._now = now
        self._connections: dict[str, set[str]] = {}
        self._seen: dict[str, float] = {}
        self._left: dict[str, float] = {}
        self._answered: dict[str, float] = {}
        self._changed: dict[str, bool] = {}

    def is_online(self, system: str) -> bool:
        known = self.without_agent(system)
        return bool(self._connections.get(system)) if known is None else known

    @property
    def online(self) -> set[str]:
        return {system for system, held in self._connections.items() if held}

    def last_seen(self, system: str) -> float | None:
        """When it was last connected."""
        return self._seen.get(system)

    def restore(self, seen: Iterable[tuple[str, float | None]]) -> None:
        """Load the last times from the database, from before this process."""
        self._seen.update((system, at) for system, at in seen if at is not None)

    def on_client(self, event: ClientEvent) -> None:
        """Record that a connection began or ended, as reported by the broker."""
        if event.system:
            (self._open if event.connected else self._close)(event.system, event.connection)

    def found(self, there: Iterable[str], away: Iterable[str]) -> None:
        """Record the result of a poke, which fills the board at the start and corrects it later."""
        for system in there:
            if not self.is_online(system):
                self._open(system, POKED)
        for system in away:
            if self.is_online(system):
                self._connections[system].clear()
                self._note(system, False)

    def answered(self, systems: Iterable[str]) -> None:
        """Record that systems have answered a poke just now."""
        self._answered.update(dict.fromkeys(systems, self._now()))

    def has_just_answered(self, system: str) -> bool:
        """True if it has answered a poke a moment ago, and its connection is open."""
        return self.is_online(system) and 0 <= self._now() - self._answered.get(system, -FRESH) < FRESH

    def heard(self, system: str) -> None:
        """Record that a system sent a request, so it is connected; unless it has just left, and this was its
        last one.
        """
        now = self._now()
        self._seen[system] = now
        if not self.is_online(system) and not 0 <= now - self._left.get(system, -LATE) < LATE:
            self._open(system, POKED)

    def take_changes(self) -> Changes:
        changed, self._changed = self._changed, {}
        came = tuple(sorted(system for system, online in changed.items() if online))
        return Changes(came, tuple(sorted(system for system, online in changed.items() if not online)))

    def _open(self, system: str, connection: str) -> None:
        was = self.is_online(system)
        held = self._connections.setdefault(system, set())
        held.discard(POKED)
        held.add(connection)
        if not was:
            self._note(system, True)

    def _close(self, system: str, connection: str) -> None:
        held = self._connections.get(system, set())
        known = held & {connection, POKED}
        held -= {connection, POKED}
        if known and not held:
            self._left[system] = self._now()
            self._answered.pop(system, None)
            self._note(system, False)

    def _note(self, system: str, online: bool) -> None:
        self._seen[system] = self._now()
        self._changed[system] = online  # also for one that came and went: its sync was stored meanwhile
