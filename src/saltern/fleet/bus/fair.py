"""A queue in which everyone has a share: who floods it loses messages of his own, and no one else's."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")

SHARE = 64  # messages of one sender that may wait


class FairQueue(Generic[T]):
    """Senders take turns; each may have ``share`` messages in the queue."""

    def __init__(self, share: int = SHARE) -> None:
        self._share = share
        self._waiting: dict[str, deque[T]] = {}

    def put(self, sender: str, item: T) -> bool:
        """False if the sender has its share in the queue already: the item is not taken."""
        held = self._waiting.setdefault(sender, deque())
        if len(held) >= self._share:
            return False
        held.append(item)
        return True

    def get(self) -> T | None:
        """The next item; its sender goes to the end of the line."""
        if not self._waiting:
            return None
        sender, held = next(iter(self._waiting.items()))
        del self._waiting[sender]
        item = held.popleft()
        if held:
            self._waiting[sender] = held
        return item
