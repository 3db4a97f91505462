"""Joining a fleet over a real broker: tokens, operators, impostors."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.fleet.harness import run
from tests.fleet.kit import FLEET, Fleet, running_fleet

from saltern.fleet.bus.ports import NoAnswer, NotConnected
from saltern.fleet.identity import membership
from saltern.fleet.identity.enrolment import Standing, sign_claim
from saltern.fleet.identity.jwt import BadJwt, decode_user
from saltern.fleet.identity.keys import new_keys
from saltern.fleet.identity.membership import become_member, joiner_credential
from saltern.fleet.identity.mint import joiner_name
from saltern.fleet.identity.nkeys import Holder, public_text
from saltern.fleet.identity.token import proof, proof_key, read_token, write_token
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.envelope import Refused
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.messages import EnrolClaim, EnrolRequest
from saltern.fleet.protocol.subjects import SUBJECTS


def test_a_token_lets_one_machine_in_and_its_credential_works(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            token = read_token(write_token(fleet.token()), time.time())
            answer, keys, _ = await fleet.ask("web1.example.com", token)
            assert (answer.state, answer.fingerprint) == ("accepted", keys.fingerprint)
            member = become_member(token, "web1.example.com", keys, answer.credential)
            assert decode_user(answer.credential).name == "web1=2Eexample=2Ecom"
            credential = membership.KeyCredential(member.credential, keys.signing)
            bus = await fleet.connect(member.name, credential)
            assert bus.connected
            await bus.close()

    run(scenario())


def test_a_token_that_was_used_leaves_the_second_machine_waiting_for_an_operator(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            token = fleet.token()
            await fleet.ask("web1", token)
            answer, keys, _ = await fleet.ask("web2", token)
            assert answer.state == "pending" and not answer.credential and "used before" in answer.why
            assert answer.fingerprint == keys.fingerprint and answer.retry_after > 0
            fleet.registry.set("web2", keys.fingerprint, Standing.ACCEPTED)
            again, _, _ = await fleet.ask("web2", token, keys)
            assert again.state == "accepted" and again.credential

    run(scenario())


def test_the_same_machine_may_ask_again_with_its_token(tmp_path: Path) -> None:
    """The answer may have been lost on its way."""

    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            first, keys, token = await fleet.ask("web1")
            again, _, _ = await fleet.ask("web1", token, keys)
            assert (first.state, again.state) == ("accepted", "accepted")

    run(scenario())


def test_a_token_for_several_machines_lets_in_as_many(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            token = fleet.token(uses=2)
            states = [(await fleet.ask(f"web{number}", token))[0].state for number in range(3)]
            assert states == ["accepted", "accepted", "pending"]

    run(scenario())


def test_an_impostor_with_a_known_id_is_rejected_and_that_is_an_alarm(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            await fleet.ask("web1")
            answer, _, _ = await fleet.ask("web1", fleet.token())
            assert answer.state == "rejected" and "another key" in answer.why
            assert [alarm.id for alarm in fleet.alarms] == ["web1"]

    run(scenario())


@pytest.mark.parametrize("standing", [Standing.REJECTED, Standing.REVOKED])
def test_a_key_that_was_turned_away_does_not_come_in_by_a_new_token(
    tmp_path: Path, standing: Standing
) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            _, keys, _ = await fleet.ask("web1")
            fleet.registry.set("web1", keys.fingerprint, standing)
            answer, _, _ = await fleet.ask("web1", fleet.token(), keys)
            assert answer.state == "rejected" and answer.why and not answer.credential

    run(scenario())


def test_two_machines_that_wait_with_one_id_are_kept_apart_by_fingerprint(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            token = fleet.token(uses=0)
            _, first, _ = await fleet.ask("web1", token)
            _, second, _ = await fleet.ask("web1", token)
            fleet.registry.set("web1", second.fingerprint, Standing.ACCEPTED)
            assert (await fleet.ask("web1", token, first))[0].state == "rejected"
            assert (await fleet.ask("web1", token, second))[0].state == "accepted"

    run(scenario())


def test_a_clock_that_is_far_off_is_named(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            with pytest.raises(NoAnswer):
                membership.TIMEOUT, kept = 1.0, membership.TIMEOUT
                try:
                    await fleet.ask("web1", now=time.time() - 86_400)
                finally:
                    membership.TIMEOUT = kept
            assert "clocks differ" in fleet.alarms[0].why

    run(scenario())


async def raw(fleet: Fleet, **changes: object) -> tuple[str, bytes, str]:
    """A request to join, made by hand: subject, data, and the name of the joiner."""
    token, keys = fleet.token(), new_keys()
    claim = EnrolClaim(
        nonce="n",
        fleet=str(changes.get("of_fleet", FLEET)),
        id=str(changes.get("id", "web9")),
        key=keys.signing.public,
        sealing_key=changes.get("sealing_key", keys.sealing.public),  # type: ignore[arg-type]
        token=token.id,
        at=time.time(),
    )
    text = encode(claim)
    signer = changes.get("signer", keys.signing)
    assert isinstance(signer, SigningKey)
    request = EnrolRequest(
        signed=text.decode(),
        signature=signer.sign(sign_claim(text) if changes.get("marked", True) else text),
        proof=proof(proof_key(token.secret), text),
    )
    name, credential = joiner_credential(token)
    bus = await fleet.connect(name, credential)
    key = changes.get("subject_key", keys.signing.public)
    assert isinstance(key, bytes)
    subject = SUBJECTS["enrol"].of(key=public_text(key, Holder.USER))
    data = changes.get("data", encode(request))
    assert isinstance(data, bytes)
    try:
        await bus.publish(subject, data, reply=str(changes.get("reply", f"_INBOX.{name}.x")))
        await bus.flush()
    finally:
        await bus.close()
    return subject, text, name


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"signer": SigningKey.new()}, "not signed"),
        ({"marked": False}, "not signed"),
        ({"subject_key": SigningKey.new().public}, "not signed"),
        ({"of_fleet": "other"}, "for the fleet"),
        ({"id": "../../etc"}, "has '/' in it"),
        ({"id": "a\nb"}, "in it"),
        ({"sealing_key": bytes(32)}, "shared key"),
        ({"data": b"garbage"}, "malformed"),
        ({"data": b"[" * 60_000}, "nested deeper"),
        ({"reply": "dn.db1.job"}, "the address of another system"),
        ({"reply": "_INBOX._join-other.x"}, "the address of another system"),
        ({"reply": "_INBOX.web1.x"}, "the address of another system"),
    ],
)
def test_a_request_that_proves_nothing_gets_no_answer_and_is_counted(
    tmp_path: Path, changes: dict[str, object], why: str
) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            await raw(fleet, **changes)
            await fleet.ask("db1")  # a good one after it is answered: the desk is well
            assert [alarm for alarm in fleet.alarms if why in alarm.why], fleet.alarms
            assert {system.id for system in fleet.registry.systems.values()} == {"db1"}

    run(scenario())


def test_a_controller_that_the_token_does_not_name_is_not_believed(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            from msgspec.structs import replace

            token = replace(fleet.token(), roots=(SigningKey.new().public,))
            with pytest.raises(Refused):
                await fleet.ask("web1", token)

    run(scenario())


def test_a_credential_for_another_name_key_or_issuer_is_not_kept(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            answer, keys, token = await fleet.ask("web1")
            mint, now = fleet.broker.authority.mint, time.time()
            for wrong in (
                mint.agent("web2", keys.signing.public, now=now),
                mint.agent("web1", SigningKey.new().public, now=now),
                mint.controller("web1", keys.signing.public, now=now),
                "garbage",
                answer.credential[:-5],
            ):
                with pytest.raises(BadJwt):
                    become_member(token, "web1", keys, wrong)

    run(scenario())


def test_an_expired_token_does_not_even_connect(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            token = fleet.token(life=-1)
            name, credential = joiner_credential(token)
            with pytest.raises(NotConnected):
                await fleet.connect(name, credential)
            assert joiner_name(token.id) == name

    run(scenario())
