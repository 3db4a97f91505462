"""What a hostile agent with a valid credential tries, against the real broker: refused and counted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.fleet.harness import run, until
from tests.fleet.kit import Fleet, running_fleet

from saltern.fleet.broker.site_renewal import own_connection
from saltern.fleet.broker.sites import make_kit
from saltern.fleet.broker.tls import CertificateFiles
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.ports import (
    BusError,
    Change,
    Disconnected,
    Message,
    NoAnswer,
    NotConnected,
    NotPermitted,
    State,
    TooLarge,
)
from saltern.fleet.identity.jwt import encode as encode_jwt
from saltern.fleet.identity.keys import new_keys
from saltern.fleet.identity.membership import KeyCredential, joiner_credential
from saltern.fleet.identity.mint import Mint
from saltern.fleet.identity.nkeys import Holder, public_text
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.envelope import Refused, verify
from saltern.fleet.protocol.ids import BadId
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.messages import Audience, Job, RenewRequest
from saltern.fleet.protocol.subjects import SUBJECTS, Role

FORBIDDEN_SUBSCRIPTIONS = (
    "dn.db1.>", "dn.db1.job", "dn.*.job", "dn.>", ">", "*.>", "dn._site.ams.job", "dn._site.>",
    "_INBOX.db1.>", "_INBOX.>", "_INBOX.*.>", "up.db1.>", "up.>", "up.web1.>", "enrol.>", "blob.>",
    "$JS.>", "$SYS.>", "$JS.EVENT.>", "up.*.blob.*", "up.web1.blob.*",
)  # fmt: skip
FORBIDDEN_REQUESTS = (
    "up.db1.ret.j1", "up.db1.svc.pillar", "up.db1.svc.sync", "up.db1.svc.renew", "up.db1.evt.x",
    "up.db1.ans.c1.n", "dn.db1.job", "dn.web1.job", "dn._all.job", "dn._site.ams.job", "dn.db1.ctl",
    "_INBOX.db1.x", "blob.abc", "enrol.UABC", "up.web1.svc.other", "up.web1.anything", "up.web1.ret.j1.x",
    "$JS.API.DIRECT.GET.BLOBS", "$JS.API.DIRECT.GET.JOBS", "$JS.API.DIRECT.GET.JOBS.dn.db1.job",
    "$JS.API.STREAM.MSG.GET.JOBS", "$JS.API.STREAM.INFO.JOBS", "$JS.API.STREAM.LIST",
    "$JS.API.STREAM.DELETE.RETURNS", "$JS.API.STREAM.PURGE.RETURNS", "$JS.API.STREAM.CREATE.EVIL",
    "$JS.API.CONSUMER.CREATE.RETURNS", "$JS.API.CONSUMER.CREATE.JOBS.evil", "$JS.API.INFO",
    "$JS.ACK.RETURNS.indexer.1.1.1.1.1", "$SYS.REQ.CLAIMS.UPDATE", "$SYS.REQ.SERVER.PING",
    "$SYS.REQ.USER.INFO.x", "up.db1.blob.abc",
)  # fmt: skip


def with_fleet(tmp_path: Path, scenario: Callable[[Fleet], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with running_fleet(tmp_path) as fleet:
            await scenario(fleet)

    run(whole(), timeout=100)


async def ignore(_message: Message) -> None: ...


def test_an_agent_hears_nothing_that_is_not_its_own_and_speaks_for_no_one_else(tmp_path: Path) -> None:
    async def scenario(fleet: Fleet) -> None:
        web1, db1 = await fleet.agent("web1"), await fleet.agent("db1")
        refused: list[Change] = []
        web1.bus.watch(lambda change: refused.append(change) if change.state is State.REFUSED else None)
        for subject in FORBIDDEN_SUBSCRIPTIONS:
            with pytest.raises(NotPermitted):
                await web1.bus.subscribe(subject, ignore)
        for subject in FORBIDDEN_REQUESTS:
            with pytest.raises(NotPermitted):
                await web1.bus.request(subject, b'{"last_by_subj":"dn.db1.job","seq":1}', timeout=30)
        assert len(refused) == len(FORBIDDEN_SUBSCRIPTIONS) + len(FORBIDDEN_REQUESTS)
        assert web1.bus.connected
        assert (await fleet.bus.stream_state("RETURNS")).messages == 0
        await web1.bus.close()
        await db1.bus.close()

    with_fleet(tmp_path, scenario)


def test_what_an_agent_needs_it_may(tmp_path: Path) -> None:
    async def scenario(fleet: Fleet) -> None:
        web1 = await fleet.agent("web1.example.com")
        heard: list[str] = []

        async def on(message: Message) -> None:
            heard.append(message.subject)

        for row in ("job", "job-all", "control"):
            await web1.bus.subscribe(SUBJECTS[row].of(id="web1.example.com"), on)
        await fleet.bus.store(SUBJECTS["job"].of(id="web1.example.com"), b"x")
        await fleet.bus.store(SUBJECTS["job-all"].of(), b"x")
        await fleet.bus.publish(SUBJECTS["control"].of(id="web1.example.com"))
        await until(lambda: len(heard) == 3)
        for row, fields in (
            ("return", {"jid": "j.1"}),
            ("records", {"jid": "j.1"}),
            ("event", {"tag": "a/b c"}),
        ):
            stored = await web1.bus.store(SUBJECTS[row].of(id="web1.example.com", **fields), b"{}", id=row)
            assert stored.sequence
        await web1.bus.store(SUBJECTS["away"].of(id="web1.example.com"), b"{}")
        await fleet.bus.store(SUBJECTS["blob"].of(digest="ab" * 32), b"content")
        kept = await web1.bus.last("BLOBS", SUBJECTS["blob"].of(digest="ab" * 32))
        assert kept is not None and kept.data == b"content"
        await web1.bus.close()

    with_fleet(tmp_path, scenario)


def test_an_answer_smuggled_onto_the_job_subject_of_another_is_not_obeyed(tmp_path: Path) -> None:
    """The broker lets it through: it does not check where answers go. The signature stops it."""

    async def scenario(fleet: Fleet) -> None:
        web1, db1 = await fleet.agent("web1"), await fleet.agent("db1")
        arrived: list[bytes] = []

        async def on_job(message: Message) -> None:
            arrived.append(message.data)

        await db1.bus.subscribe("dn.db1.job", on_job)
        await fleet.bus.store("blob.abc", b"evil")
        await web1.bus.publish("$JS.API.DIRECT.GET.BLOBS.blob.abc", reply="dn.db1.job")
        await web1.bus.publish("up.web1.ret.j1", b"x", reply="dn.db1.job")
        await until(lambda: len(arrived) == 2)
        for data in arrived:
            with pytest.raises(Refused):
                verify(data, db1.member.trust, me="db1", now=time.time())
        job = fleet.issuer.issue(
            Job(jid="j1", function="test.ping"), Audience(ids=["db1"]), now=time.time(), life=60
        )
        assert verify(job, db1.member.trust, me="db1", now=time.time()).of(Job).jid == "j1"
        await web1.bus.close()
        await db1.bus.close()

    with_fleet(tmp_path, scenario)


def test_a_service_does_not_carry_its_answer_to_another_ones_subject(tmp_path: Path) -> None:
    async def scenario(fleet: Fleet) -> None:
        web1, db1 = await fleet.agent("web1"), await fleet.agent("db1")
        arrived: list[str] = []

        async def on(message: Message) -> None:
            arrived.append(message.subject)

        await db1.bus.subscribe("dn.db1.job", on)
        await db1.bus.subscribe("_INBOX.db1.>", on)
        request = encode(RenewRequest(nonce="n"))
        for reply in ("dn.db1.job", "_INBOX.db1.x", "_INBOX.web11.x", "up.web1.ret.j", ""):
            await web1.bus.publish("up.web1.svc.renew", request, reply=reply)
        await web1.bus.request("up.web1.svc.renew", request, timeout=10)
        await db1.bus.flush()
        assert arrived == []
        assert len(fleet.alarms) == 5 and {alarm.id for alarm in fleet.alarms} == {"web1"}
        await web1.bus.close()
        await db1.bus.close()

    with_fleet(tmp_path, scenario)


def test_credentials_that_are_not_ones_own_do_not_connect(tmp_path: Path) -> None:
    async def scenario(fleet: Fleet) -> None:
        web1, db1 = await fleet.agent("web1"), await fleet.agent("db1")
        mint, now = fleet.broker.authority.mint, time.time()
        evil = new_keys().signing
        forged = replace(mint, keys={role: SigningKey.new() for role in Role})
        wrong_account = replace(mint, account=public_text(SigningKey.new().public, Holder.ACCOUNT))
        attempts = {
            "another's credential": KeyCredential(db1.member.credential, web1.keys.signing),
            "made by oneself": KeyCredential(forged.agent("db1", evil.public, now=now), evil),
            "expired": KeyCredential(mint.agent("db1", evil.public, now=now - 100, life=50), evil),
            "another account": KeyCredential(wrong_account.agent("db1", evil.public, now=now), evil),
            "no credential": KeyCredential("", evil),
            "garbage": KeyCredential("a.b.c", evil),
        }
        for name, credential in attempts.items():
            with pytest.raises(NotConnected):
                await fleet.connect("db1", credential)
                raise AssertionError(name)
        assert web1.bus.connected and db1.bus.connected
        await web1.bus.close()
        await db1.bus.close()

    with_fleet(tmp_path, scenario)


def test_a_key_of_one_role_makes_no_credential_of_another(tmp_path: Path) -> None:
    """A stolen signing key of agents makes agents and never a controller, whatever is in the JWT."""

    async def scenario(fleet: Fleet) -> None:
        authority = fleet.broker.authority
        key = SigningKey.new()
        claims = {
            "name": "_ctl-evil",
            "sub": public_text(key.public, Holder.USER),
            "nats": {
                "type": "user",
                "version": 2,
                "issuer_account": authority.account_name,
                "pub": {"allow": [">"]},
                "sub": {"allow": [">"]},
                "subs": -1,
                "data": -1,
                "payload": -1,
            },
        }
        jwt = encode_jwt(claims, authority.signing[Role.AGENT], Holder.ACCOUNT, now=time.time())
        try:
            bus = await fleet.connect("_ctl-evil", KeyCredential(jwt, key))
        except NotConnected:
            return
        with pytest.raises(NotPermitted):
            await bus.subscribe("dn.>", ignore)
        with pytest.raises(NotPermitted):
            await bus.request("dn._all.job", timeout=10)
        await bus.close()

    with_fleet(tmp_path, scenario)


def test_a_credential_of_the_account_itself_can_do_nothing(tmp_path: Path) -> None:
    async def scenario(fleet: Fleet) -> None:
        authority, key = fleet.broker.authority, SigningKey.new()
        nats = {"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1}
        claims = {"name": "x", "sub": public_text(key.public, Holder.USER), "nats": nats}
        jwt = encode_jwt(claims, authority.account, Holder.ACCOUNT, now=time.time())
        bus = await fleet.connect("x", KeyCredential(jwt, key))
        with pytest.raises(NotPermitted):
            await bus.subscribe("dn.>", ignore)
        with pytest.raises(NotPermitted):
            await bus.request("up.web1.ret.j", timeout=10)
        await bus.close()

    with_fleet(tmp_path, scenario)


NAMES = [
    "*",
    ">",
    "dn.>",
    "a.b",
    "{{name()}}",
    "_all",
    "_site",
    "_ctl-c1",
    "_sys",
    "$SYS",
    "",
    "a b",
    "a\r\nb",
    "é",
    "=2A",
]


@pytest.mark.parametrize("name", NAMES)
def test_no_id_widens_the_rights_of_its_credential(tmp_path: Path, name: str) -> None:
    """The broker fills the name into the template as it is: ``*`` would be everyone's jobs."""

    async def scenario(fleet: Fleet) -> None:
        key = new_keys().signing
        try:
            jwt = fleet.broker.authority.mint.agent(name, key.public, now=time.time())
        except BadId:
            return
        from saltern.fleet.identity.jwt import decode_user

        bus = await fleet.connect(decode_user(jwt).name, KeyCredential(jwt, key))
        for subject in ("dn.db1.job", "dn.*.job", "dn._site.ams.job", "up.db1.>", ">"):
            with pytest.raises(NotPermitted):
                await bus.subscribe(subject, ignore)
        with pytest.raises(NotPermitted):
            await bus.request("up.db1.ret.j", timeout=10)
        await bus.close()

    with_fleet(tmp_path, scenario)


@pytest.mark.parametrize("site", ["*", ">", "a.b", "AMS", "ams fra", "{{name()}}", "-", "a" * 64, "é"])
def test_no_site_widens_the_rights_of_its_credential(site: str) -> None:
    mint = Mint(account="A", keys={role: SigningKey.new() for role in Role})
    with pytest.raises(BadId):
        mint.agent("web1", SigningKey.new().public, now=0, site=site)


def test_an_agent_hears_the_jobs_of_its_own_site_only(tmp_path: Path) -> None:
    async def scenario(fleet: Fleet) -> None:
        key = new_keys().signing
        for site, own in (("ams", True), ("fra", False), ("", False)):
            jwt = fleet.broker.authority.mint.agent("web1", key.public, now=time.time(), site=site)
            bus = await fleet.connect("web1", KeyCredential(jwt, key))
            if own:
                await bus.subscribe("dn._site.ams.job", ignore)
            else:
                with pytest.raises(NotPermitted):
                    await bus.subscribe("dn._site.ams.job", ignore)
            await bus.close()

    with_fleet(tmp_path, scenario)


def test_a_site_answers_who_asks_it_and_does_nothing_else(tmp_path: Path) -> None:
    async def scenario(fleet: Fleet) -> None:
        broker = fleet.broker
        tls = CertificateFiles(f"{broker.folder}/tls")
        kit = make_kit(
            broker.authority,
            tls,
            "ams",
            ("127.0.0.1:1",),
            ("tls://127.0.0.1:2",),
            revoked={},
            now=time.time(),
        )
        site = await NatsBus.connect(replace(own_connection(kit, broker.servers[-1]), server_name=""), wait=5)
        web1 = await fleet.agent("web1")
        for subject in (
            "dn.>",
            "up.>",
            "_INBOX.>",
            "_INBOX.web1.>",
            "up.*.ret.*",
            "up.*.svc.pillar",
            "blob.>",
        ):
            with pytest.raises(NotPermitted):
                await site.subscribe(subject, ignore)
        for subject in ("blob.abc", "dn.web1.job", "_INBOX.web1.x", "up.web1.ret.j1", "site.fra.certificate",
                        "$JS.API.STREAM.PURGE.BLOBS", "$JS.API.DIRECT.GET.JOBS.dn.web1.job"):  # fmt: skip
            with pytest.raises(NotPermitted):
                await site.request(subject, b"", timeout=30)
        heard: list[Message] = []

        async def answer(message: Message) -> None:
            heard.append(message)
            await site.publish(message.reply, b"first")
            await site.publish(message.reply, b"second")

        refused: list[Change] = []
        site.watch(lambda change: refused.append(change) if change.state is State.REFUSED else None)
        await site.subscribe("up.*.blob.*", answer)
        asked = SUBJECTS["site-blob"].of(id="web1", digest="ab" * 32)
        assert (await web1.bus.request(asked, timeout=30)).data == b"first"
        await until(lambda: refused)  # one answer to a question, and no more
        await site.close()
        await web1.bus.close()

    with_fleet(tmp_path, scenario)


def test_a_join_token_can_ask_to_join_and_nothing_else(tmp_path: Path) -> None:
    async def scenario(fleet: Fleet) -> None:
        name, credential = joiner_credential(fleet.token())
        other, other_credential = joiner_credential(fleet.token())
        bus, second = await fleet.connect(name, credential), await fleet.connect(other, other_credential)
        for subject in ("dn.>", "dn._all.job", "_INBOX.>", f"_INBOX.{other}.>", "enrol.>", "up.>"):
            with pytest.raises(NotPermitted):
                await bus.subscribe(subject, ignore)
        for subject in (
            "up.web1.ret.x",
            "dn._all.job",
            "$JS.API.DIRECT.GET.BLOBS.blob.abc",
            f"_INBOX.{other}.x",
        ):
            with pytest.raises(NotPermitted):
                await bus.request(subject, timeout=10)
        await bus.close()
        await second.close()

    with_fleet(tmp_path, scenario)


def test_a_controller_cannot_listen_to_the_answers_for_agents(tmp_path: Path) -> None:
    async def scenario(fleet: Fleet) -> None:
        for subject in ("_INBOX.web1.>", "_INBOX.>", ">", "$SYS.>"):
            with pytest.raises(NotPermitted):
                await fleet.bus.subscribe(subject, ignore)
        with pytest.raises(NotPermitted):
            await fleet.bus.request("up.web1.ret.j", timeout=10)

    with_fleet(tmp_path, scenario)


def test_a_message_of_many_megabytes_does_not_arrive_and_hurts_no_one_else(tmp_path: Path) -> None:
    async def scenario(fleet: Fleet) -> None:
        web1, db1 = await fleet.agent("web1"), await fleet.agent("db1")
        with pytest.raises(TooLarge):
            await web1.bus.store("up.web1.ret.j", bytes(100 << 20))
        # A client that does not ask its library: the broker cuts it off.
        link = web1.bus._kept.link
        assert link is not None
        link._client._max_payload = 1 << 40
        with pytest.raises((Disconnected, NoAnswer, BusError)):
            await web1.bus.store("up.web1.ret.j", bytes(8 << 20), timeout=5)
        assert (await db1.bus.store("up.db1.ret.j", b"fine")).sequence == 1
        await until(lambda: web1.bus.connected)
        await web1.bus.close()
        await db1.bus.close()

    with_fleet(tmp_path, scenario)


def test_an_agent_that_takes_all_subscriptions_it_can_is_stopped_at_its_limit(tmp_path: Path) -> None:
    async def scenario(fleet: Fleet) -> None:
        web1 = await fleet.agent("web1")
        lost: list[Change] = []
        web1.bus.watch(lambda change: lost.append(change) if change.state is State.LOST else None)
        for _ in range(80):
            await web1.bus.subscribe("dn.web1.job", ignore)
        await until(lambda: lost)
        assert "subscriptions" in lost[0].why
        await web1.bus.close()

    with_fleet(tmp_path, scenario)


def test_a_flood_of_one_agent_leaves_the_others_their_answers(tmp_path: Path) -> None:
    async def scenario(fleet: Fleet) -> None:
        web1, db1 = await fleet.agent("web1"), await fleet.agent("db1")

        async def flood() -> None:
            while True:
                for _ in range(200):
                    await web1.bus.publish("up.web1.svc.renew", b"x" * 1000, reply="_INBOX.web1.x")
                await asyncio.sleep(0)

        flooding = asyncio.create_task(flood())
        await asyncio.sleep(0.2)
        for number in range(5):
            await db1.bus.store("up.db1.ret.j", b"x", id=str(number), timeout=30)
        answer = await db1.bus.request("up.db1.svc.renew", encode(RenewRequest(nonce="n")), timeout=60)
        assert answer.data
        flooding.cancel()
        await web1.bus.close()
        await db1.bus.close()

    with_fleet(tmp_path, scenario)
