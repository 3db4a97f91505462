"""Runs the broker of a site: set up from a kit, and linked to the brokers of the fleet."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable

import msgspec

from saltern.fleet.broker.binary import find_binary
from saltern.fleet.broker.config import account_lines, server_lines
from saltern.fleet.broker.process import BrokerProcess
from saltern.fleet.broker.site_files import KEEP, keep_files
from saltern.fleet.broker.site_renewal import SiteRenewal, newest
from saltern.fleet.broker.sites import Kit
from saltern.fleet.bus.ports import BusError
from saltern.fleet.bus.tasks import end
from saltern.fleet.identity.keys import OWNER_ONLY
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.files import read, write
from saltern.system.garbage import collect_from_now_on
from saltern.system.private import make_private

CONFIG_FILE = "broker.conf"
PAUSE = 1.0  # seconds before a broker that ended is started again
HOUR = 3600.0
AGAIN = 2.0  # seconds until a failed request for a certificate is repeated
EVERYWHERE = "0.0.0.0"
LOOPBACK = ("127.", "::1", "localhost")


def read_kit(path: str) -> Kit:
    """The kit in a file. Raises ``OperationError``."""
    try:
        return msgspec.json.decode(read(path) or b"", type=Kit)
    except msgspec.DecodeError:
        what = f"{path} is not the kit of a site, or it is damaged"
        fix = "make it again on the controller: saltern site add NAME --address HOST:PORT"
        raise OperationError(Diagnostic(code="site-kit", what=what, fix=fix)) from None


def prepare(kit: Kit, folder: str) -> str:
    """Write the files of the broker; return the path of its configuration. A certificate that the site has
    received since the kit was made takes precedence.
    """
    make_private(folder)
    kit = newest(kit, folder)
    for name, text in FILES.items():
        write(os.path.join(folder, name), text(kit).encode(), OWNER_ONLY)
    config = os.path.join(folder, CONFIG_FILE)
    write(config, render(kit, folder).encode(), OWNER_ONLY)
    return config


FILES: dict[str, Callable[[Kit], str]] = {
    "ca.pem": lambda kit: kit.ca,
    "server.pem": lambda kit: kit.certificate,
    "server.key": lambda kit: kit.key,
    "link.creds": lambda kit: kit.link,
    "system.creds": lambda kit: kit.system_link,
}


def listens_on(kit: Kit) -> str:
    """Where it listens: on loopback if its address is loopback, else everywhere."""
    return kit.host if kit.host.startswith(LOOPBACK) else EVERYWHERE


def render(kit: Kit, folder: str) -> str:
    """The configuration of the broker. It keeps nothing: streams are at the fleet's brokers, and files are
    kept beside it (``site_files``).
    """
    certificate = (f"{folder}/server.pem", f"{folder}/server.key")
    links = "\n".join(
        _link(kit, folder, account, file)
        for account, file in ((kit.account, "link.creds"), (kit.system_account, "system.creds"))
    )
    return f"""\
{server_lines(f"saltern-site-{kit.site}", listens_on(kit), kit.port, folder, *certificate)}
{account_lines(kit.operator, kit.system_account, kit.accounts, folder, "1m")}

# Without this the broker keeps requests for streams from the link, and agents get no files.
default_js_domain {{ {kit.account}: "" }}
leafnodes {{
  reconnect: "1s"
  remotes: [
{links}
  ]
}}
"""


def _link(kit: Kit, folder: str, account: str, credentials: str) -> str:
    urls = ", ".join(json.dumps(url) for url in kit.hub)
    return f"""    {{
      urls: [{urls}]
      account: {account}
      credentials: {json.dumps(f"{folder}/{credentials}")}
      tls {{ ca_file: {json.dumps(f"{folder}/ca.pem")}, timeout: 5 }}
    }}"""


def serve(kit: Kit, folder: str, say: Callable[[str], None], *, keep: int = KEEP) -> None:
    """Run the broker of a site until a signal ends it. It keeps files of so many bytes."""

    async def until_signal() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await run(kit, folder, stop, say, keep=keep)

    collect_from_now_on()
    asyncio.run(until_signal())


async def run(
    kit: Kit,
    folder: str,
    stop: asyncio.Event,
    say: Callable[[str], None],
    *,
    now: Callable[[], float] = time.time,
    every: float = HOUR,
    keep: int = KEEP,
) -> None:
    """Run the broker until asked to stop, and start it again whenever it ends before that."""
    folder = os.path.abspath(folder)
    binary = find_binary()
    ended = asyncio.create_task(stop.wait())
    files = asyncio.create_task(keep_files(kit, folder, f"tls://{_address(kit)}", say, keep))
    try:
        while not stop.is_set():
            process = BrokerProcess(binary, prepare(kit, folder), folder, (_reached_at(kit), kit.port))
            await process.start()
            say(f"site {kit.site} of fleet {kit.fleet}: agents reach it at {kit.host}:{kit.port}")
            renewal = asyncio.create_task(_renew(SiteRenewal(kit, folder, now), process, say, every))
            try:
                await _until_over(process, ended)
            finally:
                renewal.cancel()
            if not stop.is_set():
                say("the broker ended unexpectedly; it is started again")
                await asyncio.sleep(PAUSE)
    finally:
        ended.cancel()
        await end(files)


async def _renew(
    renewal: SiteRenewal, process: BrokerProcess, say: Callable[[str], None], every: float
) -> None:
    """Ask for the next certificate in time. After a problem, ask again soon, since the link of a site that
    has just been started may not be up yet, and then less and less often; the same problem is printed once.
    """
    said, failures = "", 0
    while True:
        try:
            if await renewal.step(f"tls://{_address(renewal.kit)}"):
                write_pair(newest(renewal.kit, renewal.folder), renewal.folder)
                process.reload()
                say("the certificate of the site's broker was renewed")
            said, failures = "", 0
        except (BusError, OperationError, OSError) as problem:
            if str(problem) != said:
                say(f"the certificate of the site's broker cannot be renewed yet: {problem}")
            said, failures = str(problem), failures + 1
        await asyncio.sleep(pause_after(failures, every))


def pause_after(failures: int, every: float) -> float:
    """Seconds until the next request for a certificate, after this number of failures in a row."""
    return min(AGAIN * 2 ** min(failures - 1, 30), every) if failures else every


def write_pair(kit: Kit, folder: str) -> None:
    """Write the key and the certificate where the broker reads them."""
    for name in ("server.key", "server.pem"):
        write(os.path.join(folder, name), FILES[name](kit).encode(), OWNER_ONLY)


def _address(kit: Kit) -> str:
    host = _reached_at(kit)
    return f"[{host}]:{kit.port}" if ":" in host else f"{host}:{kit.port}"


def _reached_at(kit: Kit) -> str:
    return "127.0.0.1" if listens_on(kit) == EVERYWHERE else kit.host


async def _until_over(process: BrokerProcess, ended: asyncio.Task[object]) -> None:
    waited = asyncio.create_task(process.wait())
    try:
        await asyncio.wait({waited, ended}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waited.cancel()
        if process.alive:
            await process.stop()
