"""A stream in memory: numbered messages, ids that are kept once, readers that must acknowledge."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from saltern.fleet.bus.ports import Delivery, Kept, ReaderOptions, Stored, StreamRefused, StreamState
from saltern.fleet.protocol.streams import Stream
from saltern.fleet.protocol.subjects import covers


class _Place(Struct):
    """A delivered, unacknowledged message: when it is due again, and how often it was delivered."""

    due: float
    attempts: int


class MemoryReader(Struct):
    """The position of a durable reader."""

    options: ReaderOptions
    next: int
    open: dict[int, _Place] = {}

    def wants(self, kept: Kept) -> bool:
        subjects = self.options.subjects
        return not subjects or any(covers(one, kept.subject) for one in subjects)


class MemoryStream:
    """The contents of one stream."""

    def __init__(self, stream: Stream, subjects: tuple[str, ...], tick: Callable[[], float]) -> None:
        self.stream = stream
        self.subjects = subjects
        self.readers: dict[str, MemoryReader] = {}
        self._tick = tick
        self._kept: dict[int, tuple[float, Kept]] = {}
        self._ids: dict[str, tuple[float, int]] = {}
        self._last = 0

    def captures(self, subject: str) -> bool:
        return any(covers(one, subject) for one in self.subjects)

    def add(self, subject: str, data: bytes, id: str) -> Stored:
        now = self._tick()
        self._ids = {one: (at, n) for one, (at, n) in self._ids.items() if now - at < self.stream.duplicates}
        if id in self._ids:
            return Stored(self.stream.name, self._ids[id][1], duplicate=True)
        if self.stream.refuses_when_full and self.state().bytes + len(data) > self.stream.max_bytes:
            raise StreamRefused("maximum bytes exceeded")
        self._last += 1
        if self.stream.last_only:
            self.remove(subject)
        self._kept[self._last] = (now, Kept(subject, self._last, data))
        if id:
            self._ids[id] = (now, self._last)
        self._prune(now)
        return Stored(self.stream.name, self._last)

    def _prune(self, now: float) -> None:
        size = sum(len(kept.data) for _, kept in self._kept.values())
        for number, (at, kept) in list(self._kept.items()):
            if size <= self.stream.max_bytes and not (0 < self.stream.max_age < now - at):
                return
            del self._kept[number]
            size -= len(kept.data)

    def remove(self, subject: str) -> None:
        self._kept = {
            number: row for number, row in self._kept.items() if not covers(subject, row[1].subject)
        }

    def messages(self) -> Iterable[Kept]:
        return (kept for _, kept in self._kept.values())

    def state(self) -> StreamState:
        size = sum(len(kept.data) for kept in self.messages())
        return StreamState(len(self._kept), size, next(iter(self._kept), self._last + 1), self._last)

    def reader(self, options: ReaderOptions) -> MemoryReader:
        made = MemoryReader(options, self._last + 1 if options.from_now else 1)
        return self.readers.setdefault(options.name, made)

    def deliver(self, reader: MemoryReader, count: int) -> list[Delivery]:
        """The messages that are due again, then new ones; each stays open until it is acknowledged."""
        now = self._tick()
        due = [number for number, place in reader.open.items() if place.due <= now and number in self._kept]
        room = reader.options.max_unacknowledged - len(reader.open)
        new = [
            kept.sequence for kept in self.messages() if kept.sequence >= reader.next and reader.wants(kept)
        ]
        return [self._open(reader, number, now) for number in [*due, *new[: max(room, 0)]][:count]]

    def _open(self, reader: MemoryReader, number: int, now: float) -> Delivery:
        place = reader.open.setdefault(number, _Place(0.0, 0))
        place.due = now + reader.options.ack_wait
        place.attempts += 1
        reader.next = max(reader.next, number + 1)
        return Delivery(self._kept[number][1], place.attempts, str(number))

    def again(self, reader: MemoryReader, number: int, delay: float) -> None:
        if number in reader.open:
            reader.open[number].due = self._tick() + delay
