"""Notifications as they are sent: to a web server and a mail server of the test, from the database."""

from __future__ import annotations

import json
from email import message_from_string
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.callbacks.receivers import MailReceiver, WebReceiver, mail_receiver, web_receiver
from tests.fleet.controller.chain_kit import leg_agent, rounds, start
from tests.fleet.controller.kit import Bench, running_bench
from tests.fleet.harness import run

from saltern.chains.statuses import Step
from saltern.fleet.callbacks.mail import MailServer
from saltern.fleet.callbacks.reach import Destinations
from saltern.fleet.callbacks.retry import MOST
from saltern.fleet.callbacks.webhook import signature
from saltern.fleet.controller import subscriptions as desk
from saltern.fleet.controller.callbacks import CallbackOptions, Callbacks
from saltern.fleet.controller.chains.gates import Ballot, Voter
from saltern.fleet.controller.singleton import Hold
from saltern.fleet.store import subscriptions
from saltern.fleet.store.leases import take
from saltern.fleet.store.subscriptions import Subscription

HERE = Destinations(("127.0.0.0/8",))


class Sender:
    """The callbacks of a bench, one round at a time, by a clock of its own."""

    def __init__(self, bench: Bench, **options: Any) -> None:
        self.bench, self.now = bench, 1000.0
        self.work = Callbacks(
            bench.fleet._calls, CallbackOptions(reach=HERE, **options), now=lambda: self.now
        )

    async def round(self) -> None:
        calls = self.bench.fleet._calls
        fence = await calls.write(take, "callbacks", "here", 60.0)
        assert fence is not None
        self.now = max(self.now, self.bench.clock())
        await self.work(Hold(calls, "callbacks", fence, fresh=False))

    def add(self, name: str, kind: str, address: str, *events: str, **more: Any) -> Subscription:
        new = Subscription(name=name, kind=kind, address=address, events=events, **more)
        with self.bench.database.write() as connection:
            return desk.keep(connection, "joe", new, HERE, 1.0)

    def rows(self, name: str) -> list[tuple[str, str, int]]:
        with self.bench.database.read() as connection:
            found = subscriptions.notifications_of(connection, name)
        return [(one.event, one.status, one.attempts) for one in reversed(found)]


def test_a_run_is_notified_signed_once_each_with_an_id(tmp_path: Path) -> None:
    async def scenario(bench: Bench, web: WebReceiver) -> None:
        sender = Sender(bench)
        made = sender.add("ops", "webhook", web.address, "run.*", "leg.failed")
        await leg_agent(bench, "web1")
        await leg_agent(bench, "web2", b=Step.FAILED)
        name = (await start(bench)).run
        await rounds(bench)
        await sender.round()
        await sender.round()
        bodies = [json.loads(body) for _, _, body in web.requests]
        assert sorted(body["event"] for body in bodies) == ["leg.failed", "run.partial", "run.running"]
        failed = next(body for body in bodies if body["event"] == "leg.failed")
        assert (failed["system"], failed["actions"], failed["chain"]) == ("web2", ["b"], "two")
        assert {body["run"] for body in bodies} == {name}
        for path, head, body in web.requests:
            assert path == "/hook?x=1"
            id_, at = head["webhook-id"], int(head["webhook-timestamp"])
            assert json.loads(body)["id"] == id_
            assert head["webhook-signature"] == signature(made.secret, id_, at, body)
        assert len({head["webhook-id"] for _, head, _ in web.requests}) == 3
        assert {one[1] for one in sender.rows("ops")} == {"sent"}

    on_bench(tmp_path, scenario)


def on_bench(folder: Path, scenario: Any) -> None:
    async def whole() -> None:
        async with running_bench(folder) as bench:
            bench.board.is_known = True
            with web_receiver() as web:
                await scenario(bench, web)

    run(whole())


@pytest.mark.parametrize("answer", [500, 404, 301, 307])
def test_what_is_not_taken_is_sent_again_with_the_same_id_and_is_dead_after_a_limit(
    tmp_path: Path, answer: int
) -> None:
    async def scenario(bench: Bench, web: WebReceiver) -> None:
        sender = Sender(bench)
        sender.add("ops", "webhook", web.address, "run.running")
        web.answers = [answer] * (MOST + 1)
        await leg_agent(bench, "web1")
        await start(bench)
        await rounds(bench)
        await sender.round()
        await sender.round()
        assert sender.rows("ops") == [("run.running", "waiting", 1)], "not before its time"
        for _ in range(MOST + 2):
            sender.now += 4000
            await sender.round()
        assert sender.rows("ops") == [("run.running", "dead", MOST)]
        assert len({head["webhook-id"] for _, head, _ in web.requests}) == 1
        with bench.database.read() as connection:
            found = subscriptions.counts(connection)["ops"]
        assert found["dead"] == 1 and str(answer) in found["problem"]
        web.answers = []
        with bench.database.write() as connection:
            assert desk.revive(connection, "joe", "ops", sender.now) == 1
        await sender.round()
        assert sender.rows("ops") == [("run.running", "sent", 1)]

    on_bench(tmp_path, scenario)


def test_a_receiver_that_is_gone_for_good_is_not_asked_again(tmp_path: Path) -> None:
    async def scenario(bench: Bench, web: WebReceiver) -> None:
        sender = Sender(bench)
        sender.add("ops", "webhook", web.address, "run.running")
        web.answers = [410]
        await leg_agent(bench, "web1")
        await start(bench)
        await rounds(bench)
        await sender.round()
        assert sender.rows("ops") == [("run.running", "dead", 1)]

    on_bench(tmp_path, scenario)


def test_an_address_that_may_not_be_reached_gets_nothing_whatever_its_name_leads_to(tmp_path: Path) -> None:
    async def scenario(bench: Bench, web: WebReceiver) -> None:
        sender = Sender(bench)
        sender.work = Callbacks(bench.fleet._calls, CallbackOptions(), now=lambda: sender.now)
        sender.add("ops", "webhook", web.address.replace("127.0.0.1", "localhost"), "run.running")
        await leg_agent(bench, "web1")
        await start(bench)
        await rounds(bench)
        await sender.round()
        assert (sender.rows("ops"), web.requests) == ([("run.running", "waiting", 1)], [])
        with bench.database.read() as connection:
            assert "which callbacks may not reach" in subscriptions.counts(connection)["ops"]["problem"]

    on_bench(tmp_path, scenario)


def test_other_chains_and_what_is_off_get_nothing(tmp_path: Path) -> None:
    async def scenario(bench: Bench, web: WebReceiver) -> None:
        sender = Sender(bench)
        sender.add("other", "webhook", web.address, "run.*", chains=("another",))
        sender.add("off", "webhook", web.address, "run.*", enabled=False)
        sender.add("own", "webhook", web.address, "run.running", chains=("two",))
        await leg_agent(bench, "web1")
        await start(bench)
        await rounds(bench)
        assert [sender.rows(name) for name in ("other", "off")] == [[], []]
        assert len(sender.rows("own")) == 1
        with bench.database.write() as connection:
            desk.drop(connection, "joe", "own", 2.0)
        await sender.round()
        assert web.requests == []

    on_bench(tmp_path, scenario)


def test_an_approver_gets_a_mail_with_what_to_type(tmp_path: Path) -> None:
    async def scenario(bench: Bench, mail: MailReceiver) -> None:
        server = MailServer(host="127.0.0.1", port=mail.port, sender="saltern@fleet.example", security="none")
        sender = Sender(bench, mail=server)
        sender.add("ann", "mail", "ann@example.org", "gate.*", "run.succeeded")
        await leg_agent(bench, "web1")
        made = await start(bench, rollout={"gate": {"needed": 1}})
        await rounds(bench)
        mail.refuses = ["451 later"]
        await sender.round()
        assert (sender.rows("ann"), mail.mails) == ([("gate.open", "waiting", 1)], [])
        sender.now += 60
        await sender.round()
        ((to, text),) = mail.mails
        first = message_from_string(text)
        assert (to, first["Subject"]) == (["ann@example.org"], "saltern: chain two, gate run: open")
        assert f"saltern chain approve {made.run} 'run'" in text
        ballot = Ballot(approves=True, plan_sha256=made.plan_sha256)
        await bench.fleet.chains.vote(Voter("bob"), made.run, "run", ballot)
        await rounds(bench)
        mail.refuses = ["550 no such user"]
        await sender.round()
        assert sender.rows("ann")[1:] in (
            [("gate.approved", "dead", 1), ("run.succeeded", "sent", 1)],
            [("gate.approved", "sent", 1), ("run.succeeded", "dead", 1)],
        )

    async def whole() -> None:
        async with running_bench(tmp_path) as bench:
            bench.board.is_known = True
            with mail_receiver() as mail:
                await scenario(bench, mail)

    run(whole())
