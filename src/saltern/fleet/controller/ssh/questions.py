"""Answers requests of workers on SSH hosts, as the controller answers agents."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.job_events import agent_event
from saltern.fleet.protocol.ids import new_nonce
from saltern.fleet.protocol.messages import Event
from saltern.fleet.protocol.pace import Pace
from saltern.fleet.protocol.peer_messages import MineAnswer, MineRequest
from saltern.fleet.protocol.tags import EVENT_BURST, EVENT_RATE, PACE, tag_problem
from saltern.fleet.store.events import store_events

MINE_FIELDS = frozenset({"store", "functions", "target", "matcher", "allowed", "remove", "clear"})
Mine = Callable[[str, MineRequest], Awaitable[MineAnswer]]
Message = dict[str, Any]


class HostQuestions:
    """Answers for one controller. The session guarantees the id of the host.

    A host that sends events faster than an agent would is answered later: its worker waits, and none is lost.
    """

    def __init__(
        self,
        calls: Calls,
        hub: Hub,
        mine: Mine,
        *,
        now: Callable[[], float],
        new_pace: Callable[[], Pace] = lambda: Pace(EVENT_RATE * PACE, EVENT_BURST * PACE),
    ) -> None:
        self._calls = calls
        self._hub = hub
        self._mine = mine
        self._now = now
        self._paces: dict[str, Pace] = defaultdict(new_pace)

    async def answer(self, host: str, question: Message) -> Message:
        """The answer to a question about the mine, or to an event."""
        try:
            if question.get("ask") == "event":
                return await self._store_event(host, question)
            known = {name: value for name, value in question.items() if name in MINE_FIELDS}
            request = msgspec.convert({**known, "nonce": new_nonce()}, MineRequest)
        except msgspec.ValidationError as problem:
            return {"problem": f"the question is malformed: {problem}"}
        answer = await self._mine(host, request)
        return {"data": answer.data, "problem": answer.problem}

    async def _store_event(self, host: str, question: Message) -> Message:
        """Store an event under the id of the host. Tags of the controller are refused, as from an agent."""
        data, preload = question.get("data"), question.get("preload")
        given = {
            "tag": question.get("tag"),
            "data": data if isinstance(data, dict) else {"data": data},
            "preload": preload if isinstance(preload, dict) else {},
            "jid": question.get("jid") or None,
        }
        event = msgspec.convert(given, Event)
        if problem := tag_problem(event.tag, host):
            return {"problem": problem}
        pace = self._paces[host]
        while not pace.take(1):
            await asyncio.sleep(pace.wait(1))
        now = self._now()
        await self._calls.write(store_events, [agent_event(host, event, now)])
        self._hub.wake()
        return {}
