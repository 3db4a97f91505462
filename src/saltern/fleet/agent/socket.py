"""The agent's UNIX socket, for requests from its own machine. One line of JSON in, one line out."""

from __future__ import annotations

import asyncio
import base64
import os
import socket
import struct
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import msgspec

import saltern
from saltern.fleet.agent.agent import Agent
from saltern.fleet.bus.ports import BusError
from saltern.fleet.files.worker import answer_file
from saltern.fleet.pillar.agent import answer_pillar
from saltern.fleet.protocol.codec import BadMessage
from saltern.fleet.protocol.envelope import Refused
from saltern.fleet.protocol.ids import new_nonce
from saltern.fleet.protocol.messages import Away
from saltern.fleet.protocol.peer_messages import MineAnswer, MineRequest, PublishAnswer, PublishRequest
from saltern.language.diagnostics import Diagnostic, OperationError

LIMIT = 16 << 20  # bytes of a question: it may hold the return of a state
Message = dict[str, Any]  # a question or a reply
PUBLISH_FIELDS = frozenset({"function", "args", "kwargs", "target", "matcher", "runner"})
MINE_FIELDS = frozenset({"store", "functions", "target", "matcher", "allowed", "remove", "clear"})


class ControlSocket:
    """Listens while it is open; only root and the user that the agent runs as are answered."""

    def __init__(self, path: str, agent: Agent) -> None:
        self._path = path
        self._agent = agent
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> None:
        os.makedirs(os.path.dirname(self._path), 0o755, exist_ok=True)
        with suppress(FileNotFoundError):
            os.remove(self._path)
        self._server = await asyncio.start_unix_server(self._on_client, self._path, limit=LIMIT)
        os.chmod(self._path, 0o600)

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        with suppress(FileNotFoundError):
            os.remove(self._path)

    async def _on_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if _peer(writer) in (0, os.geteuid()):
                writer.write(msgspec.json.encode(await self._answer(await reader.readline())) + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError):
            pass  # the caller is gone, or its request has no end
        finally:
            writer.close()

    async def _answer(self, line: bytes) -> Message:
        try:
            question = msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.DecodeError:
            return {"problem": "the question is malformed"}
        found = ANSWERS.get(str(question.get("ask")))
        if found is None:
            return {"problem": f"nothing answers {question.get('ask')!r}"}
        return await found(self._agent, question)


def _peer(writer: asyncio.StreamWriter) -> int:
    """The user at the other end, as reported by the kernel."""
    line: socket.socket = writer.get_extra_info("socket")
    data = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", data)[1])


async def _status(agent: Agent, _question: Message) -> Message:
    state = agent.syncer.state
    return {
        "id": agent.member.id,
        "fleet": agent.member.fleet,
        "version": saltern.__version__,
        "instance": agent.instance,
        "starts": agent.member.starts,
        "credential": agent.renewal.problem if agent.renewal else "",
        "connected": agent.bus.connected,
        "disconnected": agent.disconnected,
        "synced": state.at,
        "problem": state.problem,
        "refused": state.refused,
        "draining": agent.inbox.unable(),
        "running": agent.jobs.running,
        "jobs": agent.spool.counts(),
        "refusals": dict(agent.inbox.refusals),
        "clock": agent.clock.offset,
    }


async def _sync(agent: Agent, _question: Message) -> Message:
    """Sync with the controllers now, and wait for the result."""
    began = agent.syncer.state.at
    agent.syncer.wake()
    with suppress(TimeoutError):
        async with asyncio.timeout(20):
            while agent.syncer.state.at == began and not agent.syncer.state.problem:
                await asyncio.sleep(0.02)
    return {"problem": agent.syncer.state.problem, "refused": agent.syncer.state.refused}


async def _note_pause(agent: Agent, question: Message) -> Message:
    """A worker reports that its run waits for a reboot or an update."""
    jid = str(question.get("jid", ""))
    if jid in agent.jobs.running:
        await agent.watch.note_pause(jid)
    return {}


async def _file(agent: Agent, question: Message) -> Message:
    """A worker needs a file of its tree that was not fetched yet."""
    return await answer_file(agent.files, question) if agent.files else {"problem": "the agent has no files"}


async def _pillar(agent: Agent, question: Message) -> Message:
    """A worker needs the pillar of this system."""
    if agent.pillar is None:
        return {"pillar": base64.b64encode(msgspec.msgpack.encode({})).decode()}
    return await answer_pillar(agent.pillar, question, agent.clock.now())


async def _render(agent: Agent, question: Message) -> Message:
    """A worker needs a file or a block that the controller renders; only for a job that runs here."""
    if agent.render is None:
        return {"problem": "the agent has no key"}
    if question.get("jid") not in agent.jobs.running:
        return {"problem": f"the job {question.get('jid')!r} does not run here"}
    return await agent.render.answer(question)


async def _event(agent: Agent, question: Message) -> Message:
    """A worker, or a person on this machine, sends an event to the controllers."""
    data, preload = question.get("data"), question.get("preload")
    jid = str(question.get("jid", ""))
    problem = agent.events.add(
        str(question.get("tag", "")),
        data if isinstance(data, dict) else {"data": data},
        preload=preload if isinstance(preload, dict) else {},
        jid=jid if jid in agent.jobs.running else None,
    )
    return {"problem": problem}


async def _mine(agent: Agent, question: Message) -> Message:
    """A worker publishes values, or asks for those of other systems."""
    known = {name: value for name, value in question.items() if name in MINE_FIELDS}
    try:
        request = msgspec.convert({**known, "nonce": new_nonce()}, MineRequest)
        answer = await agent.ask("mine", request, MineAnswer)
    except (BusError, Refused, BadMessage, msgspec.ValidationError) as problem:
        return {"problem": f"no controller answers about the mine: {problem}"}
    return {"data": answer.data, "problem": answer.problem}


async def _publish(agent: Agent, question: Message) -> Message:
    """A worker requests a function on other systems, or a runner; or, with ``of``, the result of a
    request.
    """
    known = {name: value for name, value in question.items() if name in PUBLISH_FIELDS}
    jid = str(question.get("jid", ""))
    known |= {"parent": jid if jid in agent.jobs.running else None, "jid": question.get("of")}
    try:
        request = msgspec.convert({**known, "nonce": new_nonce()}, PublishRequest)
    except msgspec.ValidationError as problem:
        return {"problem": f"this cannot be asked of other systems: {problem}"}
    try:
        answer = await agent.ask("publish", request, PublishAnswer)
    except (BusError, Refused, BadMessage) as problem:
        return {"away": f"no controller answers: {problem}"}
    found: Message = msgspec.to_builtins(answer)
    return found


async def _leave(agent: Agent, _question: Message) -> Message:
    """Leave the fleet: report it to the controllers, and end."""
    await agent.announce_away(Away(why="leave"))
    asyncio.get_running_loop().call_later(0.1, agent.stop.set)
    return {}


ANSWERS: dict[str, Callable[[Agent, Message], Awaitable[Message]]] = {
    "status": _status,
    "sync": _sync,
    "paused": _note_pause,
    "leave": _leave,
    "file": _file,
    "pillar": _pillar,
    "render": _render,
    "event": _event,
    "mine": _mine,
    "publish": _publish,
}


def ask_agent(path: str, question: Message, timeout: float = 25.0) -> Message:
    """Ask the agent that listens there; ``OperationError`` if there is none."""
    end = time.monotonic() + timeout
    data = b""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(timeout)
            line.connect(path)
            line.sendall(msgspec.json.encode(question) + b"\n")
            while not data.endswith(b"\n") and time.monotonic() < end and (more := line.recv(65_536)):
                data += more
        return msgspec.json.decode(data, type=dict[str, Any])
    except (OSError, msgspec.DecodeError) as problem:
        raise _no_answer(path, problem) from None


def _no_answer(path: str, problem: Exception) -> OperationError:
    reason = getattr(problem, "strerror", "") or str(problem)
    fix = "start it: saltern agent run, or systemctl start saltern-agent"
    if isinstance(problem, FileNotFoundError):
        reason = "there is no such socket"
    elif isinstance(problem, PermissionError):
        reason, fix = "this user may not use its socket", "use sudo"
    return OperationError(
        Diagnostic(code="agent-away", what=f"no agent answers at {path}: {reason}", fix=fix)
    )
