"""The life of a credential: renewed before its end, ended by an operator, noticed when it is copied."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.harness import run, until
from tests.fleet.kit import Agent, running_fleet

from saltern.fleet.bus.poke import Poker
from saltern.fleet.bus.ports import Change, Message, NotConnected, State
from saltern.fleet.identity.clones import Life, Verdict, find_twin, judge, needs_a_look, refusal
from saltern.fleet.identity.enrolment import Standing
from saltern.fleet.identity.jwt import BadJwt, decode_user
from saltern.fleet.identity.membership import Membership, renew_credential
from saltern.fleet.identity.mint import LIFE, Mint, renew_in
from saltern.fleet.identity.nkeys import BadKey, Holder, public_text, read_public, read_seed, seed_text
from saltern.fleet.identity.revocation import MAX_REVOKED, TooManyRevoked, prune, restore, revoke
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.messages import Alive, SyncRequest
from saltern.fleet.protocol.subjects import SUBJECTS, Role

MINT = Mint(account="A", keys={role: SigningKey.new() for role in Role})


# -- renewal ---------------------------------------------------------------------------------------


@given(st.floats(60, 10 * LIFE), st.floats(0, 1))
def test_a_credential_is_renewed_about_half_way(life: float, chance: float) -> None:
    jwt = MINT.agent("web1", SigningKey.new().public, now=1_000_000, life=life)
    wait = renew_in(jwt, 1_000_000, chance)
    assert 0.44 * life - 1 <= wait <= 0.56 * life + 1
    assert renew_in(jwt, 1_000_000 + life, chance) == 0


def test_a_renewed_credential_takes_over_without_a_gap(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path, life=6) as fleet:
            agent = await fleet.agent("web1")
            heard: list[bytes] = []

            async def on_job(message: Message) -> None:
                heard.append(message.data)

            await agent.bus.subscribe("dn.web1.job", on_job)
            lost: list[Change] = []
            agent.bus.watch(lambda change: lost.append(change) if change.state is State.LOST else None)
            first = decode_user(agent.credential.jwt())
            saved: list[Membership] = []
            fleet.desk._life = 3600
            member = await renew_credential(
                agent.bus, agent.member, agent.keys, agent.credential, now=time.time(), save=saved.append
            )
            assert saved == [member] and decode_user(member.credential).exp > first.exp
            assert agent.credential.jwt() == member.credential
            await asyncio.sleep(max(0, first.exp - time.time()) + 1.5)  # past the end of the old one
            await fleet.bus.publish("dn.web1.job", b"after")
            await until(lambda: heard == [b"after"])
            assert lost == []
            await agent.bus.close()

    run(scenario())


def test_a_credential_that_ended_is_taken_up_again_when_a_new_one_is_there(tmp_path: Path) -> None:
    """The library closes for ever when a credential expires; an agent that slept must come back."""

    async def scenario() -> None:
        async with running_fleet(tmp_path, life=2) as fleet:
            agent = await fleet.agent("web1")
            changes: list[Change] = []
            agent.bus.watch(changes.append)
            await until(lambda: any(change.state is State.LOST for change in changes))
            await until(lambda: any(change.state is State.RETRY for change in changes))
            assert not agent.bus.connected
            jwt = fleet.broker.authority.mint.agent("web1", agent.keys.signing.public, now=time.time())
            agent.credential.replace(jwt)
            await until(lambda: agent.bus.connected)
            await agent.bus.close()

    run(scenario())


def test_one_who_is_not_accepted_any_more_gets_no_new_credential(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            agent = await fleet.agent("web1")
            fleet.registry.set("web1", agent.keys.fingerprint, Standing.REVOKED)
            with pytest.raises(BadJwt, match="not accepted"):
                await renew_credential(
                    agent.bus,
                    agent.member,
                    agent.keys,
                    agent.credential,
                    now=time.time(),
                    save=lambda _m: None,
                )
            await agent.bus.close()

    run(scenario())


# -- revocation ------------------------------------------------------------------------------------


def test_a_revoked_agent_is_cut_off_at_once_and_stays_out_and_no_one_else_notices(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            web1, db1 = await fleet.agent("web1"), await fleet.agent("db1")
            others: list[Change] = []
            for bus in (db1.bus, fleet.bus):
                bus.watch(others.append)
            await fleet.broker.set_revoked(
                revoke(fleet.broker.revoked, web1.keys.signing.public, time.time())
            )
            await until(lambda: not web1.bus.connected)
            with pytest.raises(NotConnected):
                await fleet.connect("web1", web1.credential)
            assert others == [] and db1.bus.connected
            await web1.bus.close()
            await fleet.broker.set_revoked(
                restore(fleet.broker.revoked, web1.keys.signing.public, time.time())
            )
            again = await fleet.connect("web1", web1.credential)
            await again.close()
            await db1.bus.close()

    run(scenario())


@pytest.mark.parametrize("lose", ["nothing", "accounts", "streams"])
def test_a_revocation_outlives_the_broker_and_its_data(tmp_path: Path, lose: str) -> None:
    import shutil

    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            agent = await fleet.agent("web1")
            await agent.bus.close()
            await fleet.broker.set_revoked(
                revoke(fleet.broker.revoked, agent.keys.signing.public, time.time())
            )
            await fleet.bus.close()
            await fleet.broker.stop()
            shutil.rmtree(tmp_path / lose, ignore_errors=True)
            await fleet.start()
            with pytest.raises(NotConnected):
                await fleet.connect("web1", agent.credential)
            other = await fleet.agent("db1")
            await other.bus.close()

    run(scenario())


def test_the_list_forgets_what_has_expired_and_has_an_end() -> None:
    keys = [SigningKey.new().public for _ in range(3)]
    revoked: dict[str, int] = {}
    for number, key in enumerate(keys):
        revoked = revoke(revoked, key, 1000.0 + number)
    assert len(revoked) == 3 and len(restore(revoked, keys[0], 1005.0)) == 2
    assert list(prune(revoked, 1001.5 + LIFE)) == [public_text(keys[2], Holder.USER)]
    full = {f"U{number}": 1000 for number in range(MAX_REVOKED)}
    with pytest.raises(TooManyRevoked):
        revoke(full, keys[0], 1000.0)


# -- copies ----------------------------------------------------------------------------------------


def sync(instance: str, starts: int) -> SyncRequest:
    return SyncRequest(nonce="n", instance=instance, starts=starts)


@pytest.mark.parametrize(
    ("known", "now", "answering", "verdict"),
    [
        (None, ("a", 1), {"a"}, Verdict.SAME),
        (Life("a", 1), ("a", 1), set(), Verdict.SAME),
        (Life("a", 1), ("a", 1), {"a", "b"}, Verdict.TWIN),
        (Life("a", 1), ("b", 2), {"b"}, Verdict.RESTARTED),
        (Life("a", 1), ("b", 2), {"a", "b"}, Verdict.TWIN),
        (Life("a", 1), ("b", 2), {"a"}, Verdict.TWIN),
        (Life("a", 5), ("b", 2), {"b"}, Verdict.RESTORED),
        (Life("a", 5), ("b", 5), {"b"}, Verdict.RESTORED),
        (None, ("a", 1), {"a", "b"}, Verdict.TWIN),
    ],
)
def test_a_restart_is_told_from_a_copy(
    known: Life | None, now: tuple[str, int], answering: set[str], verdict: Verdict
) -> None:
    assert judge(known, sync(*now), frozenset(answering)) is verdict
    assert bool(refusal("web1", verdict)) == (verdict is Verdict.TWIN)


def test_only_a_new_instance_is_poked_for() -> None:
    assert not needs_a_look(None, sync("a", 1))
    assert not needs_a_look(Life("a", 1), sync("a", 1))
    assert needs_a_look(Life("a", 1), sync("b", 2))


def test_two_machines_with_the_same_keys_are_found_over_the_real_broker(tmp_path: Path) -> None:
    async def alive(agent: Agent, instance: str) -> None:
        async def on_poke(message: Message) -> None:
            await agent.bus.publish(message.reply, encode(Alive(instance=instance)))

        await agent.bus.subscribe(SUBJECTS["control"].of(id="web1"), on_poke)

    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            poker = Poker(fleet.bus, "c1")
            await poker.start()
            first = await fleet.agent("web1")
            await alive(first, "i1")
            known = Life("i1", 3)
            copy = Agent(fleet, first.member, first.keys)
            await copy.connect()
            await alive(copy, "i2")
            assert await find_twin(poker, "web1", known, sync("i2", 4), wait=0.3) is Verdict.TWIN
            await first.bus.close()
            assert await find_twin(poker, "web1", known, sync("i2", 4), wait=0.3) is Verdict.RESTARTED
            await copy.bus.close()

    run(scenario())


# -- the form of keys ------------------------------------------------------------------------------


@given(st.binary(min_size=32, max_size=32), st.sampled_from(Holder))
def test_keys_are_read_back_as_they_were_and_not_as_another_kind(seed: bytes, holder: Holder) -> None:
    key = SigningKey(seed)
    assert read_public(public_text(key.public, holder), holder) == key.public
    assert read_seed(seed_text(key, holder), holder).public == key.public
    for other in set(Holder) - {holder}:
        with pytest.raises(BadKey):
            read_public(public_text(key.public, holder), other)
        with pytest.raises(BadKey):
            read_seed(seed_text(key, holder), other)


def test_keys_have_the_form_that_the_broker_reads() -> None:
    key = SigningKey(bytes(range(32)))
    assert public_text(key.public, Holder.USER)[0] == "U" and seed_text(key, Holder.USER)[:2] == "SU"
    assert public_text(key.public, Holder.ACCOUNT)[0] == "A" and seed_text(key, Holder.ACCOUNT)[:2] == "SA"
    assert public_text(key.public, Holder.OPERATOR)[0] == "O" and seed_text(key, Holder.OPERATOR)[:2] == "SO"
    assert len(public_text(key.public, Holder.USER)) == 56


@given(st.text(max_size=80))
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(BadKey):
        read_public(text, Holder.USER)


def test_a_credential_does_not_outlive_a_change_of_any_byte() -> None:
    jwt = MINT.agent("web1", SigningKey.new().public, now=1_000_000)
    assert decode_user(jwt).name == "web1"
    for place in range(0, len(jwt) - 1, 7):
        changed = jwt[:place] + ("A" if jwt[place] != "A" else "B") + jwt[place + 1 :]
        with pytest.raises(BadJwt):
            decode_user(changed)
