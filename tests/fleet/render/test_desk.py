"""The service ``render``: who may ask for what, what is kept, and for how long."""

from __future__ import annotations

import base64
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import select
from tests.fleet.controller.kit import FLEET, TRUST, new_database, new_issuer
from tests.fleet.harness import run

from saltern.fleet.agent.ask import Asker
from saltern.fleet.agent.clock import FleetClock
from saltern.fleet.broker.streams import make_streams
from saltern.fleet.bus.memory import MemoryHub
from saltern.fleet.bus.service import Services
from saltern.fleet.controller.calls import Calls
from saltern.fleet.files.conceal import Concealment
from saltern.fleet.files.keeper import Roots, TreeKeeper
from saltern.fleet.files.sweep import Sweeper
from saltern.fleet.pillar.desk import PillarOptions
from saltern.fleet.protocol.keys import SealingKey, SigningKey
from saltern.fleet.protocol.messages import Facts, Job
from saltern.fleet.render.agent import AgentRender
from saltern.fleet.render.desk import RenderDesk
from saltern.fleet.render.pool import RenderPool
from saltern.fleet.render.sessions import RunSessions
from saltern.fleet.render.trees import RenderTrees
from saltern.fleet.store.database import Connection, Database
from saltern.fleet.store.jobs import Change, NewJob, create_job, set_status
from saltern.fleet.store.render_tables import HIDDEN_FILES, RENDER_SCOPES
from saltern.fleet.store.systems import store_facts
from saltern.fleet.store.tables import SYSTEMS
from saltern.render.remote import Question, Sent

SECRET = "Sibylla"
HIDDEN = f"""#!controller|jinja|yaml
# {SECRET}
a:
  test.nop:
    - name: {{{{ grains.id }}}} {{{{ pillar.whose }}}}
    - delayed_render: [{{block: B}}]
#!delayed_block B
b:
  test.nop:
    - name: {{{{ prev_ret.comment }}}} {{{{ pillar.whose }}}} # {SECRET}
#!end_delayed_block
"""
FILE = Question(env="base", sls="hidden", name="hidden.sls")
JIDS = ("20261116T120000.000001-aaaaaa", "20261116T120000.000002-bbbbbb")


class Site:
    """A controller with the service, and two systems that ask it."""

    def __init__(self, place: Path, database: Database, hub: MemoryHub) -> None:
        self.place, self.database, self.hub = place, database, hub
        self.calls = Calls(database)
        self.keys = {name: SealingKey.new() for name in ("web1", "web2")}
        self.refusals: Counter[str] = Counter()
        self.details: list[str] = []
        self.bus = hub.connect("c1")
        roots = Roots(
            roots={"base": [str(place / "salt")]}, directory=str(place / "files"), hidden=Concealment()
        )
        self.keeper = TreeKeeper(self.bus, self.calls, roots, name="c1", now=time.time)
        self.write("salt/hidden.sls", HIDDEN)
        self.write("salt/plain.sls", "p:\n  test.nop\n")
        self.write("pillar/top.sls", "base: {'*': [own]}\n")
        self.write("pillar/own.sls", "whose: of {{ grains.id }}\n")
        for name, key in self.keys.items():
            self._add(name, key)
        self.desk = self.new_desk()

    def write(self, name: str, text: str) -> None:
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def _add(self, name: str, key: SealingKey) -> None:
        row = {"id": name, "state": "accepted", "key": SigningKey.new().public, "sealing_key": key.public}
        with self.database.write() as connection:
            connection.execute(SYSTEMS.insert().values(**row, fingerprint=name, first_seen=0.0))
            store_facts(
                connection, name, Facts(nonce="x", digest=f"{name:0<64}"[:64].encode().hex()[:64]), 0.0
            )

    def new_desk(self) -> RenderDesk:
        """The desk of a controller that has just been started."""
        pillar = PillarOptions(pillar_roots={"base": [str(self.place / "pillar")]}, file_roots={})
        sessions = RunSessions(
            RenderTrees(self.bus, self.calls, str(self.place / "render")),
            pillar,
            roots=lambda found: {env: list(some) for env, some in found.items()},
            cache=str(self.place / "cache"),
            limit=None,
        )

        def refuse(id_: str, reason: str, _why: str) -> None:
            self.refusals[f"{id_} {reason}"] += 1

        async def report(id: str, jid: str, what: str, detail: str) -> None:
            self.details.append(detail)

        return RenderDesk(
            self.calls,
            sessions,
            fleet=FLEET,
            now=time.time,
            refused=refuse,
            report=report,
            pool=RenderPool(1),
        )

    async def answer(self, id_: str, request: Any) -> Any:
        return await self.desk.answer(id_, request)

    async def submit(self, jid: str, *systems: str, tree: str = "") -> None:
        job = Job(
            jid=jid,
            function="state.apply",
            args=["hidden"],
            tree=tree or await self.keeper.newest(),
            user="joe",
        )
        new = NewJob(job=job, target="*", systems=systems, expires=time.time() + 600)
        await self.calls.write(create_job, new, time.time())
        for name in systems:
            await self.calls.write(_set, Change(jid, name, "running"))

    async def end(self, jid: str, system: str, status: str = "returned") -> None:
        await self.calls.write(_set, Change(jid, system, status))
        await self.desk.discard_ended()

    async def ask(self, name: str, jid: str, question: Question, key: SealingKey | None = None) -> Any:
        """What a worker on a system gets: what was sent, or the text of a problem."""
        asker = Asker(self.hub.connect(name), FleetClock(), id=name, trust=lambda: TRUST)
        agent = AgentRender(asker, key or self.keys[name], fleet=FLEET, system=name)
        packed = base64.b64encode(msgspec.msgpack.encode(question)).decode()
        found = await agent.answer({"jid": jid, "question": packed})
        if "sent" not in found:
            return found.get("problem") or found["away"]
        return msgspec.msgpack.decode(base64.b64decode(found["sent"]), type=Sent)

    def rows(self) -> tuple[int, int]:
        """How many hidden files and blocks the database holds."""
        with self.database.read() as connection:
            return (
                len(connection.execute(select(HIDDEN_FILES)).all()),
                len(connection.execute(select(RENDER_SCOPES)).all()),
            )


def _set(connection: Connection, change: Change) -> None:
    set_status(connection, change, time.time(), reported=True)


@asynccontextmanager
async def site(place: Path) -> AsyncIterator[Site]:
    database, hub = new_database(place), MemoryHub()
    made = Site(place, database, hub)
    await make_streams(made.bus)
    await made.keeper.start()
    services = Services(made.bus, new_issuer(), now=time.time)
    await services.serve("render", made.answer)
    try:
        yield made
    finally:
        await made.desk.close()
        for bus in list(hub.buses):
            await bus.close()
        made.calls.close()
        database.close()


def block(sent: Sent, name: str = "B", **previous: Any) -> Question:
    return Question(scope=sent.scope, block=name, previous={"comment": "done", **previous})


def test_each_system_gets_its_own_and_the_text_stays(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            await made.submit(JIDS[0], "web1", "web2")
            for name in ("web1", "web2"):
                sent = await made.ask(name, JIDS[0], FILE)
                assert sent.data["a"]["test.nop"][0] == {"name": f"{name} of {name}"}
                assert [(one.name, one.file, one.line) for one in sent.blocks] == [
                    ("B", "@/base/0/hidden.sls", 7)
                ]
                later = await made.ask(name, JIDS[0], block(sent))
                assert later.data == {"b": {"test.nop": [{"name": f"done of {name}"}]}}
                for one in (sent, later):
                    assert SECRET not in str(msgspec.to_builtins(one))
            assert made.refusals == {}

    run(scenario())


async def _foreign_scope(made: Site) -> Question:
    return block(await made.ask("web2", JIDS[0], FILE))


async def _other_block(made: Site) -> Question:
    return block(await made.ask("web1", JIDS[0], FILE), "C")


async def _made_up(_made: Site) -> Question:
    return Question(scope="0" * 32, block="B", previous={})


async def _variables(_made: Site) -> Question:
    return Question(scope="0" * 32)


async def _plain_file(_made: Site) -> Question:
    return Question(env="base", sls="plain", name="plain.sls")


async def _outside(_made: Site) -> Question:
    return Question(env="base", sls="x", name="../pillar/own.sls")


async def _other_environment(_made: Site) -> Question:
    return Question(env="vault", sls="hidden", name="hidden.sls")


@pytest.mark.parametrize(
    "question",
    [_foreign_scope, _other_block, _made_up, _variables, _plain_file, _outside, _other_environment],
)
def test_what_is_not_part_of_the_own_run_is_refused_and_counted(tmp_path: Path, question: Any) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            await made.submit(JIDS[0], "web1", "web2")
            found = await made.ask("web1", JIDS[0], await question(made))
            assert found.startswith("refused: ")
            assert made.refusals == {"web1 render": 1}

    run(scenario())


def test_only_open_jobs_of_the_system_itself_count(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            await made.submit(JIDS[0], "web2")
            await made.submit(JIDS[1], "web1")
            assert await made.ask("web1", JIDS[0], FILE) == "refused: it is not a job of this system"
            assert "is not a job" in await made.ask("web1", "20261116T120000.000009-cccccc", FILE)
            sent = await made.ask("web1", JIDS[1], FILE)
            await made.end(JIDS[1], "web1")
            for question in (FILE, block(sent)):
                assert "returned on this system" in await made.ask("web1", JIDS[1], question)
            assert made.refusals == {"web1 render": 4}

    run(scenario())


def test_a_question_that_is_none_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            await made.submit(JIDS[0], "web1")
            asker = Asker(made.hub.connect("web1"), FleetClock(), id="web1", trust=lambda: TRUST)
            agent = AgentRender(asker, made.keys["web1"], fleet=FLEET, system="web1")
            for data in (b"", b"\xc1", msgspec.msgpack.encode({"scope": 5}), b"\x91" * 5000):
                found = await agent.answer({"jid": JIDS[0], "question": base64.b64encode(data).decode()})
                assert found == {"problem": "refused: the question is malformed"}

    run(scenario())


def test_an_answer_is_sealed_to_the_key_of_the_system(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            await made.submit(JIDS[0], "web1")
            found = await made.ask("web1", JIDS[0], FILE, SealingKey.new())
            assert found.startswith("the answer cannot be opened")

    run(scenario())


def test_blocks_are_kept_for_the_job_and_discarded_when_it_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            await made.submit(JIDS[0], "web1", "web2")
            await made.ask("web1", JIDS[0], FILE)
            sent = await made.ask("web2", JIDS[0], FILE)
            assert made.rows() == (1, 2)
            await made.end(JIDS[0], "web1", "failed")
            assert made.rows() == (1, 1)
            assert (await made.ask("web2", JIDS[0], block(sent))).data
            await made.end(JIDS[0], "web2")
            assert made.rows() == (1, 0)
            assert not made.desk._answers
            assert not made.desk._asked, "the processes were asked to forget it"

    run(scenario())


def test_another_controller_continues_with_what_was_kept(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            await made.submit(JIDS[0], "web1")
            sent = await made.ask("web1", JIDS[0], FILE)
            made.write("salt/hidden.sls", "changed: meanwhile\n")
            await made.desk.close()
            made.desk = made.new_desk()
            later = await made.ask("web1", JIDS[0], block(sent))
            assert later.data == {"b": {"test.nop": [{"name": "done of web1"}]}}
            assert (await made.ask("web1", JIDS[0], FILE)).data.keys() == {"a"}

    run(scenario())


def test_the_same_question_gets_the_same_answer(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            made.write(
                "salt/hidden.sls",
                "#!controller|jinja|yaml\n{{ salt['random.get_str'](20) | tojson }}:\n  test.nop\n",
            )
            await made.submit(JIDS[0], "web1")
            await made.submit(JIDS[1], "web1")
            first = await made.ask("web1", JIDS[0], FILE)
            assert await made.ask("web1", JIDS[0], FILE) == first
            assert (await made.ask("web1", JIDS[1], FILE)).data != first.data

    run(scenario())


def test_a_problem_is_sent_without_the_text_and_reported_whole(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            made.write("salt/hidden.sls", f"#!controller|jinja|yaml\na: {{{{ {SECRET} }}}}\n")
            await made.submit(JIDS[0], "web1")
            sent = await made.ask("web1", JIDS[0], FILE)
            (problem,) = sent.problems
            assert (problem.code, problem.file, problem.line) == (
                "template-undefined",
                "@/base/0/hidden.sls",
                2,
            )
            assert SECRET not in str(sent) and SECRET in made.details[0]
            await made.ask("web1", JIDS[0], FILE)
            assert len(made.details) == 2, "a problem may be gone, so it is looked at again"

    run(scenario())


def test_a_template_that_ends_its_process_is_a_problem_of_this_question_alone(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            made.write("salt/ends.sls", "#!controller|py\nimport os\n\n\ndef run():\n    os._exit(3)\n")
            await made.submit(JIDS[0], "web1")
            sent = await made.ask("web1", JIDS[0], Question(env="base", sls="ends", name="ends.sls"))
            assert [one.code for one in sent.problems] == ["render-failed"]
            assert (await made.ask("web1", JIDS[0], FILE)).data

    run(scenario())


def test_texts_go_with_the_last_tree_that_has_them(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            first = await made.keeper.newest()
            made.write("salt/hidden.sls", HIDDEN + "# more\n")
            assert await made.keeper.newest() != first
            assert made.rows()[0] == 2
            sweeper = Sweeper(made.bus, made.calls, name="c1", now=lambda: time.time() + 30 * 86_400)
            await sweeper.sweep(versions=1)
            assert made.rows()[0] == 1
            await made.submit(JIDS[0], "web1")
            assert (await made.ask("web1", JIDS[0], FILE)).data

    run(scenario())
