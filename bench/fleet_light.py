"""Many light agents in one process, for bench/fleet.py: members of a real fleet, or bare clients of NATS.

``fleet_light.py fleet FIRST COUNT`` reads a join token from standard input, ``fleet_light.py bare URL COUNT``
the file of a CA, or nothing, and after it the key that signs commands, if they are signed and replies are
stored. It prints ``ready`` when all are connected, and ends with its standard input.
"""

from __future__ import annotations

import asyncio
import gc
import os
import ssl
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path = [os.path.dirname(HERE), *(path for path in sys.path if path != HERE)]

import nats  # noqa: E402
from nats.aio.msg import Msg  # noqa: E402
from tests.fleet.controller.kit import FLEET  # noqa: E402
from tests.fleet.controller.processes import Worker  # noqa: E402

from saltern.fleet.bus.client import NatsBus  # noqa: E402
from saltern.fleet.bus.connection import Connection  # noqa: E402
from saltern.fleet.identity.keys import new_keys  # noqa: E402
from saltern.fleet.identity.membership import (  # noqa: E402
    KeyCredential,
    ask_to_join,
    become_member,
    client_tls,
    joiner_credential,
)
from saltern.fleet.identity.token import JoinToken, read_token  # noqa: E402
from saltern.fleet.protocol.envelope import Trust, verify  # noqa: E402

AT_ONCE = 8  # agents that connect at the same time
COMMAND, KEPT, REPLY = "bench.command", "bench.kept", b'{"answer": true}'


async def start_members(token: JoinToken, first: int, count: int) -> list[Worker]:
    """Join all over one connection, and give each one of its own."""
    name, credential = joiner_credential(token)
    tls = client_tls(token.ca)
    servers = token.servers
    desk = await NatsBus.connect(
        Connection(servers=servers, name=name, credential=credential, tls=tls), wait=30
    )
    gate = asyncio.Semaphore(AT_ONCE)

    async def start(number: int) -> Worker:
        async with gate:
            id, keys = f"light{number:05}", new_keys()
            answer = await ask_to_join(desk, token, id, keys, now=time.time(), facts={})
            member = become_member(token, id, keys, answer.credential)
            own = KeyCredential(member.credential, keys.signing)
            bus = await NatsBus.connect(
                Connection(servers=servers, name=member.name, credential=own, tls=tls), wait=30
            )
            agent = Worker(bus, id, {}, trust=member.trust)
            await agent.start()
            return agent

    agents = await asyncio.gather(*(start(first + number) for number in range(count)))
    await desk.close()
    return agents


def bare_tls(ca: str) -> ssl.SSLContext | None:
    """TLS that trusts this CA; None without one."""
    return ssl.create_default_context(cafile=ca) if ca else None


async def start_bare(url: str, ca: str, count: int, root: str = "") -> list[nats.NATS]:
    """Clients that answer each command at once. With the key of a root they do what an agent cannot leave
    out: they verify that the command is signed, and their reply is stored and acknowledged.
    """
    found, tls = [], bare_tls(ca)
    trust = Trust(fleet=FLEET, roots=(bytes.fromhex(root),)) if root else None
    for number in range(count):
        client = await nats.connect(url, tls=tls)

        async def answer(
            message: Msg, client: nats.NATS = client, id: str = f"{os.getpid()}-{number}"
        ) -> None:
            if trust is None:
                await client.publish(message.reply, REPLY)
            else:
                verify(message.data, trust, me=id, now=time.time())
                await client.request(f"{KEPT}.{id}", REPLY, timeout=60)

        await client.subscribe(COMMAND, cb=answer)
        await client.flush()
        found.append(client)
    return found


async def main(kind: str, where: str, count: int) -> None:
    if kind == "bare":
        ca, _, root = sys.stdin.readline().strip().partition(" ")
        everyone: list = await start_bare(where, ca, count, root)
    else:
        token = read_token(sys.stdin.readline().strip(), time.time())
        everyone = await start_members(token, int(where), count)
    gc.collect()
    gc.freeze()  # one agent would not look at the objects of a thousand others
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    del everyone


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
    os._exit(0)  # the connections go with the process
