"""How much moves when one file of a fleet's tree changes: agents over a real broker, counted by the broker.

``python -m bench.fleet_files [--quick] [--json FILE]``: rows of name, value, limit, and whether it holds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import sys
import tempfile
from pathlib import Path
from urllib.request import urlopen

from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.connection import Connection
from saltern.fleet.files.agent import AgentFiles
from saltern.fleet.files.cache import Cache
from saltern.fleet.files.manifest import Manifest, encode
from saltern.fleet.files.pieces import digest_of
from saltern.fleet.files.publish import Publisher

SERVER = os.path.join(os.path.dirname(sys.executable), "nats-server")
FILES = 2000
SIZE = 4096


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def sent(monitor: int) -> int:
    """The bytes that the broker has sent so far."""
    with urlopen(f"http://127.0.0.1:{monitor}/varz") as answer:
        return int(json.load(answer)["out_bytes"])


async def connect(port: int, name: str) -> NatsBus:
    return await NatsBus.connect(Connection(servers=(f"nats://127.0.0.1:{port}",), name=name))


async def measure(place: Path, agents: int) -> list[dict[str, object]]:
    port, monitor = free_port(), free_port()
    config = place / "nats.conf"
    config.write_text(
        f'host: 127.0.0.1\nport: {port}\nhttp: "127.0.0.1:{monitor}"\n'
        f'jetstream {{ store_dir: "{place}/js" }}\n'
    )
    server = await asyncio.create_subprocess_exec(
        SERVER, "-c", str(config), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        return await _measure(place, agents, port, monitor)
    finally:
        server.terminate()
        await server.wait()


async def _measure(place: Path, agents: int, port: int, monitor: int) -> list[dict[str, object]]:
    root = place / "root"
    for number in range(FILES):
        folder = root / f"d{number % 40}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"s{number}.sls").write_bytes(os.urandom(SIZE // 2).hex().encode())
    older: list[Manifest] = []

    async def recent(_environment: str) -> list[tuple[str, Manifest]]:
        return [(digest_of(encode(one)), one) for one in older]

    for attempt in range(100):
        try:
            bus = await connect(port, "c1")
            break
        except Exception:
            if attempt == 99:
                raise
            await asyncio.sleep(0.1)
    publisher = Publisher(bus, str(place / "digests"))
    await publisher.blobs.make()
    first, found = await publisher.publish({"base": [str(root)]}, recent)
    older += found.manifests.values()
    fleet = [AgentFiles(Cache(str(place / f"a{n}")), await connect(port, f"a{n}")) for n in range(agents)]
    for one in fleet:
        await one.ensure(first.digest)
    (root / "d7" / "s7.sls").write_bytes(os.urandom(SIZE // 2).hex().encode())
    second, _ = await publisher.publish({"base": [str(root)]}, recent)
    before = sent(monitor)
    await asyncio.gather(*(one.ensure(second.digest) for one in fleet))
    await asyncio.sleep(0.2)
    moved, limit = sent(monitor) - before, 2 * SIZE * agents
    name = f"one changed file of {SIZE} bytes in {FILES}, {agents} agents: bytes sent by the broker"
    return [{"name": name, "value": moved, "limit": limit, "holds": moved <= limit}]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 agents in place of 100")
    parser.add_argument("--json", metavar="FILE", help="write the rows there")
    args = parser.parse_args()
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None  # the disk is not what is measured
    with tempfile.TemporaryDirectory(dir=memory) as place:
        rows = asyncio.run(measure(Path(place), 20 if args.quick else 100))
    for row in rows:
        print(f"{'ok  ' if row['holds'] else 'MISS'} {row['name']}: {row['value']:,} of {row['limit']:,}")
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(row["holds"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
