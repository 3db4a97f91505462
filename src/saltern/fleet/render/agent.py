"""The agent's side of rendering on the controller: sends a worker's request, and opens the answer."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from saltern.fleet.bus.ports import BusError
from saltern.fleet.pillar.agent import Ask
from saltern.fleet.protocol.codec import BadMessage
from saltern.fleet.protocol.envelope import Refused
from saltern.fleet.protocol.ids import new_nonce
from saltern.fleet.protocol.keys import SealingKey
from saltern.fleet.protocol.messages import MESSAGES, RenderAnswer, RenderRequest
from saltern.fleet.protocol.seal import SealBroken, SealedFor, open_seal
from saltern.fleet.render.wire import BadPack, pack, purpose_of, unpack

LARGEST = MESSAGES["render"].limit - 16_384


class AgentRender:
    """Asks the controllers to render for this system."""

    def __init__(self, ask: Ask, key: SealingKey, *, fleet: str, system: str) -> None:
        self._ask = ask
        self._key = key
        self._fleet = fleet
        self._system = system

    async def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer a worker: ``sent`` is what the controller sent, ``problem`` why it did not, ``away`` why no
        controller has answered."""
        try:
            data = pack(base64.b64decode(str(question.get("question", "")), validate=True))
        except binascii.Error:
            return {"problem": "the question is malformed"}
        if len(data) > LARGEST:
            return {
                "problem": f"the return of its caller has {len(data):,} bytes, and {LARGEST:,} can be sent"
            }
        request = RenderRequest(
            nonce=new_nonce(),
            jid=str(question.get("jid", "")),
            source=str(question.get("source", ""))[:4000],
            parent=str(question.get("parent", ""))[:4000],
            block=str(question.get("block", ""))[:4000],
            question=data,
        )
        try:
            answer = await self._ask("render", request, RenderAnswer)
        except (BusError, Refused, BadMessage) as problem:
            return {"away": f"no controller answers: {problem}"}
        return self._open(answer, request.jid)

    def _open(self, answer: RenderAnswer, jid: str) -> dict[str, Any]:
        if answer.problem or not answer.sealed:
            return {"problem": answer.problem or "the answer is empty"}
        bound = SealedFor(fleet=self._fleet, system=self._system, purpose=purpose_of(jid))
        try:
            data = unpack(open_seal(answer.sealed, self._key, bound))
        except (SealBroken, BadPack) as problem:
            return {"problem": f"the answer cannot be opened: {problem}"}
        return {"sent": base64.b64encode(data).decode()}
