"""Random faults of a message in transit; the same seed gives the same faults."""

from __future__ import annotations

from random import Random

from msgspec import Struct


class Faults(Struct, frozen=True, kw_only=True):
    """Probabilities of loss, of a second delivery and of a late one; ``delay`` is the longest delay."""

    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    delay: float = 0.0

    def copies(self, chance: Random) -> list[float]:
        """When each copy of a message arrives, in seconds from now; empty if it is lost. 0 keeps
        the order.
        """
        if chance.random() < self.loss:
            return []
        number = 2 if chance.random() < self.duplicate else 1
        return [self._lag(chance) for _ in range(number)]

    def is_lost(self, chance: Random) -> bool:
        return chance.random() < self.loss

    def _lag(self, chance: Random) -> float:
        if not self.delay and not self.reorder:
            return 0.0
        late = chance.random() < self.reorder
        return chance.uniform(0.0, self.delay or 0.02) if late or not self.reorder else 0.0


NO_FAULTS = Faults()
