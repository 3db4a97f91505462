"""A queue with a share for each sender: a sender that floods it loses only its own messages."""

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
        """Add an item; False if the sender already has its full share in the queue, and the item was
        dropped.
        """
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
