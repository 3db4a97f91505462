"""The bus in memory: one hub, any number of connections, and faults on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from saltern.fleet.bus.faults import NO_FAULTS, Faults
from saltern.fleet.bus.memory_stream import MemoryStream
from saltern.fleet.bus.memory_streams import MemoryStreams
from saltern.fleet.bus.ports import (
    MAX_PENDING,
    NO_HEADERS,
    BusError,
    Change,
    Disconnected,
    Handler,
    Message,
    NoAnswer,
    NoListener,
    NotPermitted,
    State,
    StreamRefused,
    Watcher,
)
from saltern.fleet.bus.subscription import KeptSubscription
from saltern.fleet.bus.tasks import Tasks
from saltern.fleet.protocol.ids import new_nonce
from saltern.fleet.protocol.subjects import Grants, covers, inbox_of

EVERYTHING = Grants((">",), (">",))


class MemoryHub:
    """The broker. ``faults`` may be changed at any time; ``stop`` and ``start`` are a crash and a restart."""

    def __init__(self, seed: int = 0) -> None:
        self.faults: Faults = NO_FAULTS
        self.chance = Random(seed)
        self.streams: dict[str, MemoryStream] = {}
        self.running = True
        self.buses: list[MemoryBus] = []

    def connect(self, name: str, grants: Grants = EVERYTHING) -> MemoryBus:
        bus = MemoryBus(self, name, grants)
        self.buses.append(bus)
        return bus

    def stop(self, *, lose_disk: bool = False) -> None:
        self.running = False
        if lose_disk:
            self.streams.clear()
        for bus in self.buses:
            bus.notice(Change(State.LOST, "the broker is gone"))

    def start(self) -> None:
        self.running = True
        for bus in self.buses:
            bus.notice(Change(State.CONNECTED))

    def later(self, deliver: Callable[[], None]) -> None:
        """Deliver as the faults determine: now, later, twice or never."""
        for lag in self.faults.copies(self.chance):
            if lag:
                asyncio.get_running_loop().call_later(lag, deliver)
            else:
                deliver()

    def stream_for(self, subject: str) -> MemoryStream | None:
        return next((one for one in self.streams.values() if one.captures(subject)), None)

    def route(self, message: Message, id: str = "") -> bool:
        """Send to each subscription, to one member of each queue group, and to the stream; False if there is
        none.
        """
        found = [
            (bus, sub)
            for bus in self.buses
            if bus.connected
            for sub in bus.subscriptions
            if covers(sub.subject, message.subject)
        ]
        groups: dict[str, list[MemorySubscription]] = {}
        for _, sub in found:
            groups.setdefault(sub.queue, []).append(sub)
        chosen = groups.pop("", []) + [self.chance.choice(members) for members in groups.values()]
        for sub in chosen:
            self.later(lambda sub=sub: sub.offer(message))  # type: ignore[misc]
        return self._capture(message, id) or bool(chosen)

    def _capture(self, message: Message, id: str) -> bool:
        stream = self.stream_for(message.subject)
        if stream is None:
            return False

        def keep() -> None:
            headers = _kept_headers(stream, message, id)
            if message.reply:
                self.route(Message(message.reply, headers=headers))

        self.later(keep)
        return True


def _kept_headers(stream: MemoryStream, message: Message, id: str) -> dict[str, str]:
    """Store a message; return the headers of its acknowledgement."""
    try:
        stored = stream.add(message.subject, message.data, id)
    except StreamRefused as problem:
        return {"refused": str(problem)}
    mark = "1" if stored.duplicate else ""
    return {"stream": stored.stream, "sequence": str(stored.sequence), "duplicate": mark}


class MemorySubscription(KeptSubscription):
    """Messages wait here for their handler; above ``pending`` they are dropped, as a real client does."""

    def __init__(self, bus: MemoryBus, subject: str, handler: Handler, **options: Any) -> None:
        super().__init__(bus.tasks.spawn, bus.forget, subject, handler, watcher=bus.notice, **options)
        self._bus = bus
        self._waiting: asyncio.Queue[Message] = asyncio.Queue(self.pending)
        self.task = bus.tasks.spawn(self._work())

    def offer(self, message: Message) -> None:
        if not self._bus.connected or self not in self._bus.subscriptions:
            return
        try:
            self._waiting.put_nowait(message)
        except asyncio.QueueFull:
            self._bus.notice(Change(State.DROPPED, f"messages of {message.subject} came faster than handled"))

    async def _work(self) -> None:
        while True:
            await self.receive(await self._waiting.get())


class MemoryBus(MemoryStreams):
    """One connection to a hub. ``cut`` and ``join`` take it off the network and back."""

    def __init__(self, hub: MemoryHub, name: str, grants: Grants) -> None:
        super().__init__(hub)
        self._hub = hub
        self.name = name
        self.subscriptions: list[MemorySubscription] = []
        self._grants = grants
        self._cut = False
        self._watchers: list[Watcher] = []
        self.tasks = Tasks()
        self._answers: dict[str, asyncio.Future[Message]] = {}
        self._inbox: MemorySubscription | None = None

    @property
    def connected(self) -> bool:
        return self._hub.running and not self._cut

    def cut(self) -> None:
        self._cut = True
        self.notice(Change(State.LOST, "the network is gone"))

    def join(self) -> None:
        self._cut = False
        self.notice(Change(State.CONNECTED))

    def watch(self, watcher: Watcher) -> None:
        self._watchers.append(watcher)

    def notice(self, change: Change) -> None:
        if change.state is State.LOST:
            for waiting in self._answers.values():
                if not waiting.done():
                    waiting.set_exception(Disconnected(change.why))
        for watcher in self._watchers:
            watcher(change)

    def check(self, subject: str = "") -> bool:
        """True if we may publish there."""
        if not self.connected:
            raise Disconnected("there is no connection to the broker")
        if subject and set(subject) & set("*> \t\r\n"):
            raise BusError("the subject is not valid")
        if subject and not any(covers(one, subject) for one in self._grants.publish):
            self.notice(Change(State.REFUSED, f'permissions violation for publish to "{subject}"'))
            return False
        return True

    async def publish(
        self, subject: str, data: bytes = b"", *, reply: str = "", headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        if self.check(subject) and not self._hub.route(Message(subject, data, reply, headers)) and reply:
            self._hub.route(Message(reply, status=503))

    async def flush(self) -> None:
        self.check()
        await asyncio.sleep(0)

    async def subscribe(
        self,
        subject: str,
        handler: Handler,
        *,
        queue: str = "",
        parallel: int = 1,
        pending: int = MAX_PENDING,
        sender: int | None = None,
    ) -> MemorySubscription:
        if not any(covers(one, subject) for one in self._grants.subscribe):
            self.notice(Change(State.REFUSED, f'permissions violation for subscription to "{subject}"'))
            raise NotPermitted(f"the broker does not permit subscribing to {subject!r}")
        options = {"queue": queue, "parallel": parallel, "pending": pending, "sender": sender}
        sub = MemorySubscription(self, subject, handler, **options)
        self.subscriptions.append(sub)
        return sub

    async def forget(self, sub: KeptSubscription) -> None:
        if isinstance(sub, MemorySubscription) and sub in self.subscriptions:
            self.subscriptions.remove(sub)
            sub.task.cancel()

    async def request(
        self, subject: str, data: bytes = b"", *, timeout: float, headers: Mapping[str, str] = NO_HEADERS
    ) -> Message:
        return await self.ask(Message(subject, data, headers=headers), timeout)

    async def ask(self, message: Message, timeout: float, id: str = "") -> Message:
        if not self.check(message.subject):
            raise NotPermitted(f"the broker does not permit publishing to {message.subject!r}")
        if self._inbox is None:
            self._inbox = await self.subscribe(f"{inbox_of(self.name)}.>", _giver(self._answers))
        token = f"{inbox_of(self.name)}.{new_nonce()}"
        self._answers[token] = waiting = asyncio.get_running_loop().create_future()
        try:
            if not self._hub.route(Message(message.subject, message.data, token, message.headers), id):
                raise NoListener("nothing listens there")
            return await asyncio.wait_for(waiting, timeout)
        except TimeoutError:
            raise NoAnswer("no answer came in time") from None
        finally:
            del self._answers[token]

    async def renew(self) -> None:
        self.check()

    async def close(self) -> None:
        self._cut = True
        if self in self._hub.buses:
            self._hub.buses.remove(self)
        await self.tasks.end()


def _giver(answers: Mapping[str, asyncio.Future[Message]]) -> Handler:
    async def give(message: Message) -> None:
        waiting = answers.get(message.subject)
        if waiting is not None and not waiting.done():
            waiting.set_result(message)

    return give
