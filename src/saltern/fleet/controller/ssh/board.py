"""Which systems have no agent, and which of them could not be reached last: read before a job is sent."""

from __future__ import annotations

from collections.abc import Callable, Collection

from saltern.fleet.protocol.messages import Alive
from saltern.fleet.store.ssh_systems import SshSystem

WHO = "ssh"  # stands for the agent in an answer


class SshBoard:
    """Filled from the database. ``wake`` starts stored jobs; ``cancel`` ends jobs that run here."""

    def __init__(self) -> None:
        self.systems: dict[str, SshSystem] = {}
        self.running: dict[str, list[str]] = {}
        self.wake: Callable[[], None] = lambda: None
        self.cancel: Callable[[str, Collection[str], bool], set[str]] = lambda _jid, _systems, _hard: set()

    def agents(self, systems: Collection[str]) -> list[str]:
        """Those of these systems that have an agent."""
        return [system for system in systems if system not in self.systems]

    def own(self, systems: Collection[str]) -> list[str]:
        """Those of these systems that are reached over SSH."""
        return [system for system in systems if system in self.systems]

    def is_there(self, system: str) -> bool | None:
        """True unless a system is known to be away; None for one that has an agent."""
        found = self.systems.get(system)
        return None if found is None else not found.why

    def away(self, systems: Collection[str]) -> dict[str, float | None]:
        """Those of these systems that could not be reached last, and when each was last seen."""
        found = (self.systems[system] for system in self.own(systems))
        return {one.id: one.seen_at for one in found if one.why}

    def there(self, systems: Collection[str]) -> dict[str, list[Alive]]:
        """The systems that are not known to be away, in the form of agents' answers."""
        away = self.away(systems)
        return {
            system: [Alive(instance=WHO, running=self.running.get(system, []))]
            for system in self.own(systems)
            if system not in away
        }
