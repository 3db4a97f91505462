"""A service answers who asked, signed, and counts what it refuses: the same on both buses."""

from __future__ import annotations

from tests.fleet.harness import Place, run, until
from tests.fleet.protocol.examples import ISSUER, NOW, TRUST

from saltern.fleet.bus.ports import Bus, Message
from saltern.fleet.bus.service import Services
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.envelope import verify
from saltern.fleet.protocol.messages import SyncAnswer, SyncRequest
from saltern.fleet.protocol.subjects import SUBJECTS


async def sync_service(bus: Bus, refused: list[tuple[str, str]]) -> Services:
    services = Services(
        bus, ISSUER, now=lambda: NOW, refused=lambda id, reason, _why: refused.append((id, reason))
    )

    async def answer(id: str, request: SyncRequest) -> SyncAnswer:
        return SyncAnswer(cursor=request.cursor + 1, refused=id)

    await services.serve("sync", answer)
    return services


def request(nonce: str = "n1") -> bytes:
    return encode(SyncRequest(nonce=nonce, instance="i", cursor=4))


def test_the_answer_is_signed_for_who_asked_and_for_this_request(place: Place) -> None:
    async def scenario() -> None:
        controller, agent = await place.connect("one"), await place.connect("two")
        await sync_service(controller, [])
        answer = await agent.request(SUBJECTS["sync"].of(id="two"), request(), timeout=10)
        said = verify(answer.data, TRUST, me="two", now=NOW, nonce="n1").of(SyncAnswer)
        assert (said.cursor, said.refused) == (5, "two")
        await controller.close()
        await agent.close()

    run(scenario())


def test_what_is_refused_gets_no_answer_and_is_counted(place: Place) -> None:
    async def scenario() -> None:
        controller, agent = await place.connect("one"), await place.connect("two")
        refused: list[tuple[str, str]] = []
        services = await sync_service(controller, refused)
        heard: list[Message] = []

        async def on(message: Message) -> None:
            heard.append(message)

        for subject in ("dn.db1.job", "_INBOX.db1.x", "_INBOX.two.y"):
            await agent.subscribe(subject, on)
        subject = SUBJECTS["sync"].of(id="two")
        await agent.publish(subject, request(), reply="dn.db1.job")
        await agent.publish(subject, request(), reply="_INBOX.db1.x")
        await agent.publish(subject, request())
        await agent.publish(subject, b"garbage", reply="_INBOX.two.y")
        await agent.publish(subject, b"[" * 100_000, reply="_INBOX.two.y")
        await agent.publish(subject, b"x" * 300_000, reply="_INBOX.two.y")
        await agent.publish(subject, b'{"v": 9, "nonce": "n"}', reply="_INBOX.two.y")
        await agent.publish("up._all.svc.sync", request(), reply="_INBOX._all.x")
        await until(lambda: len(refused) == 8)
        assert {reason for _, reason in refused} == set(services.refusals)  # words that can be counted
        assert services.refusals == {
            "foreign-reply": 3, "malformed": 1, "too-deep": 1, "too-large": 1, "newer": 1, "bad-subject": 1,
        }  # fmt: skip
        await agent.request(subject, request(), timeout=10)
        assert heard == []
        await controller.close()
        await agent.close()

    run(scenario())
