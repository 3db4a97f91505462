"""Call-backs of runs whose files a real controller renders: one after the other, and many systems at once.

For ``bench/fleet.py``. The systems are light: each is a member of the fleet with a key of its own, and asks
as the worker of a job would, through the same code.
"""

from __future__ import annotations

import asyncio
import base64
import time
from pathlib import Path
from typing import Any

import msgspec
from bench.fleet_local import BenchFleet, running_fleet
from bench.fleet_measure import median, row

from saltern.fleet.agent.ask import Asker
from saltern.fleet.agent.clock import FleetClock
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.connection import Connection
from saltern.fleet.identity.keys import new_keys
from saltern.fleet.identity.membership import (
    KeyCredential,
    ask_to_join,
    become_member,
    client_tls,
    joiner_credential,
)
from saltern.fleet.identity.token import JoinToken, read_token
from saltern.fleet.pillar.process import WorkerProcess
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.ids import new_nonce
from saltern.fleet.protocol.messages import Facts
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.fleet.render.agent import AgentRender
from saltern.fleet.render.pool import WORKER
from saltern.fleet.render.task import RenderResult, RenderTask, RunOptions
from saltern.render.remote import Question, Sent

MS, PER_SECOND = 5.0, 500
QUESTIONS = 900  # of one system in one job; a thousand are refused
AT_ONCE = 8  # systems that join at the same time
FILE = Question(env="base", sls="app", name="app.sls")
TEXT = """#!controller|jinja|yaml
first:
  test.nop:
    - delayed_render: [{block: later}]
#!delayed_block later delayed_repeat_limit=None
second {{ prev_ret.comment }}:
  file.managed:
    - name: /srv/{{ grains.id }}/{{ prev_ret.comment }}
    - contents: {{ prev_ret.changes | tojson }}
#!end_delayed_block
"""


class System:
    """A member of the fleet that asks for what is rendered."""

    def __init__(self, bus: NatsBus, render: AgentRender, jid: str = "") -> None:
        self.bus = bus
        self.jid = jid
        self._render = render
        self._scope = ""
        self._count = 0

    async def ask(self, question: Question) -> Sent:
        packed = base64.b64encode(msgspec.msgpack.encode(question)).decode()
        found = await self._render.answer({"jid": self.jid, "question": packed})
        if "sent" not in found:
            raise RuntimeError(str(found))
        return msgspec.msgpack.decode(base64.b64decode(found["sent"]), type=Sent)

    async def begin(self) -> None:
        self._scope = (await self.ask(FILE)).scope

    async def call_back(self) -> float:
        """Seconds until a block is rendered, after a return that no other call had."""
        self._count += 1
        previous = {"comment": f"no {self._count}", "changes": {"pid": self._count}}
        before = time.perf_counter()
        sent = await self.ask(Question(scope=self._scope, block="later", previous=previous))
        taken = time.perf_counter() - before
        if f"second no {self._count}" not in sent.data:
            raise RuntimeError(f"another answer came: {sent.data}")
        return taken


async def joined(token: JoinToken, count: int) -> list[System]:
    name, credential = joiner_credential(token)
    tls, servers = client_tls(token.ca), token.servers
    desk = await NatsBus.connect(
        Connection(servers=servers, name=name, credential=credential, tls=tls), wait=30
    )
    gate = asyncio.Semaphore(AT_ONCE)

    async def join(number: int) -> System:
        async with gate:
            id_, keys = f"light{number:05}", new_keys()
            answer = await ask_to_join(desk, token, id_, keys, now=time.time(), facts={})
            member = become_member(token, id_, keys, answer.credential)
            own = KeyCredential(member.credential, keys.signing)
            bus = await NatsBus.connect(
                Connection(servers=servers, name=member.name, credential=own, tls=tls), wait=30
            )
            facts = Facts(nonce=new_nonce(), digest=f"{number:064x}", grains={"id": id_, "os": "Debian"})
            await bus.request(SUBJECTS["facts"].of(id=id_), encode(facts), timeout=30)
            ask = Asker(bus, FleetClock(), id=id_, trust=lambda: member.trust)
            return System(bus, AgentRender(ask, keys.sealing, fleet=member.fleet, system=id_))

    found = await asyncio.gather(*(join(number) for number in range(count)))
    await desk.close()
    return list(found)


async def _measured(fleet: BenchFleet, count: int, rounds: int) -> tuple[list[float], float, list[float]]:
    """Seconds of single call-backs, and of one of each system at the same time: all, and each."""
    systems = await joined(read_token(fleet.token(count), time.time()), count)
    try:
        with fleet.client() as client:
            jid = client.jobs.submit("state.apply", "*", args=["app"])["jid"]
        for one in systems:
            one.jid = jid
        await asyncio.gather(*(one.begin() for one in systems))
        await systems[0].call_back()
        single = [await systems[0].call_back() for _ in range(min(rounds, QUESTIONS))]
        before = time.perf_counter()
        each = await asyncio.gather(*(one.call_back() for one in systems))
        return single, time.perf_counter() - before, list(each)
    finally:
        for one in systems:
            await one.bus.close()


async def _renders(root: Path, number: int) -> float:
    """Blocks that one process renders in a second."""
    process = await WorkerProcess.start(WORKER)

    async def ask(question: Question, name: str, **more: Any) -> RenderResult:
        task = RenderTask(key="run", question=msgspec.msgpack.encode(question), name=name, **more)
        answer = await process.exchange(msgspec.msgpack.encode(task))
        return msgspec.msgpack.decode(answer, type=RenderResult)

    options = {"file_roots": {"base": [str(root)]}, "pillar_roots": {}, "cachedir": str(root / "cache")}
    try:
        await ask(FILE, "file", run=RunOptions(key="run", id="web1", options=options))
        before = time.perf_counter()
        for count in range(number):
            previous = {"comment": f"no {count}", "changes": {"pid": count}}
            result = await ask(Question(scope="file", block="later", previous=previous), f"b{count}")
            if result.detail or not result.sent:
                raise RuntimeError(result.detail or result.lacks)
        return number / (time.perf_counter() - before)
    finally:
        await process.end()


def measure(place: Path, count: int, rounds: int) -> list[dict[str, Any]]:
    root = place / "root"
    root.mkdir(parents=True)
    (root / "app.sls").write_text(TEXT)
    with running_fleet(place / "render") as fleet:
        fleet.write("controller/salt/app.sls", TEXT)
        single, whole, each = asyncio.run(_measured(fleet, count, rounds))
    per_second = asyncio.run(_renders(root, rounds))
    note = f"the slowest after {max(each) * 1000:.0f} ms"
    return [
        row("call-back for a block that the controller renders, median, ms", median(single) * 1000, MS),
        row(
            "blocks that one process of the controller renders in a second",
            per_second,
            PER_SECOND,
            least=True,
        ),
        row(f"call-backs of {count} systems at once, ms for each", whole / count * 1000, MS, note=note),
    ]
