"""``saltern agent run``: one agent as a process, from its files to its end."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import signal
import sys
from contextlib import suppress

import saltern
from saltern.fleet.agent.agent import Agent, AgentOptions
from saltern.fleet.agent.deny import DenyList
from saltern.fleet.agent.lean import HEAPS, settle
from saltern.fleet.agent.log import start_log
from saltern.fleet.agent.paths import AgentPaths
from saltern.fleet.agent.renewal import Home
from saltern.fleet.agent.runner import ProcessRunner, Runner
from saltern.fleet.agent.socket import ControlSocket
from saltern.fleet.agent.spool import Spool
from saltern.fleet.agent.spool_file import SpoolFailed
from saltern.fleet.agent.worker_task import WorkerSettings
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.connection import Connection
from saltern.fleet.files.agent import AgentFiles
from saltern.fleet.files.cache import Cache
from saltern.fleet.files.site_source import SiteSource
from saltern.fleet.identity.jwt import BadJwt, decode_user
from saltern.fleet.identity.keys import load_keys
from saltern.fleet.identity.membership import KeyCredential, Membership, client_tls, count_start
from saltern.fleet.protocol.messages import Away
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system import own_program
from saltern.system.boot import boot_identity
from saltern.system.own_files import remember

log = logging.getLogger(__name__)

SITE = "site:"
BACK = 60.0  # seconds in which an agent that changes to another build is expected back
RESTART = -1  # in place of an exit code: start the build that is installed now


def run(paths: AgentPaths) -> int:
    """Run the agent until a signal ends it; return the exit code."""
    start_log(paths.log)
    with _Alone(paths):
        code = asyncio.run(_serve(paths))
    if code == RESTART:
        command = [sys.executable, *sys.orig_argv[1:]]
        os.execve(command[0], command, own_program.environment(**{HEAPS: "1"}))
    return code


async def _serve(paths: AgentPaths) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    member = count_start(paths.keys)
    keys = load_keys(paths.keys)
    try:
        spool = Spool(paths.spool)
    except SpoolFailed as problem:
        fix = "free space on that disk, or remove the file if it is damaged: unsent returns are then lost"
        raise OperationError(Diagnostic(code="agent-spool", what=str(problem), fix=fix)) from None
    credential = KeyCredential(member.credential, keys.signing)
    bus = await NatsBus.connect(
        Connection(
            servers=member.servers, name=member.name, credential=credential, tls=client_tls(member.ca)
        ),
        wait=None,
    )
    runner = ProcessRunner(paths.jobs)
    agent = _agent(paths, member, bus, spool, runner, Home(paths.keys, member, keys, credential))
    agent.stop = stop
    log.info("agent %s of fleet %s, version %s", member.id, member.fleet, saltern.__version__)
    remember()
    async with ControlSocket(paths.socket, agent):
        await agent.start()
        settle()
        await stop.wait()
        log.info(
            "another build is installed; starting it" if agent.outdated else "stopping; workers continue"
        )
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                await agent.announce_away(_farewell(agent))
        await agent.close()
        await runner.close()
    await bus.close()
    spool.close()
    return RESTART if agent.outdated else 0


def _farewell(agent: Agent) -> Away:
    if agent.outdated:
        return Away(why="update", back_by=agent.clock.now() + BACK)
    return Away(why="stop")


def _agent(
    paths: AgentPaths, member: Membership, bus: NatsBus, spool: Spool, runner: Runner, home: Home
) -> Agent:
    settings = WorkerSettings(
        config=paths.config if os.path.isfile(paths.config) else "",
        overrides=paths.overrides(member.id),
        socket=paths.socket,
    )
    options = AgentOptions(
        settings=settings,
        files=AgentFiles(
            Cache(paths.files), bus, site=SiteSource(bus, member.id) if _sites(member) else None
        ),
        sealing=home.keys.sealing,
        pillar_path=paths.pillar,
        facts_path=paths.facts,
        jobs_folder=paths.jobs,
        boot=boot_identity().get("boot_id", ""),
        sites=_sites(member),
        denied=DenyList(paths.deny),
        home=home,
    )
    return Agent(member, bus, spool, runner, options)


def _sites(member: Membership) -> tuple[str, ...]:
    """The site that the credential names, if it names one."""
    try:
        tags = decode_user(member.credential).nats.get("tags") or []
    except BadJwt:
        return ()
    return tuple(str(tag).removeprefix(SITE) for tag in tags if str(tag).startswith(SITE))


class _Alone:
    """One agent for each directory: two would send the same returns, and run the same jobs."""

    def __init__(self, paths: AgentPaths) -> None:
        self._path = os.path.join(paths.state, "agent.lock")

    def __enter__(self) -> None:
        os.makedirs(os.path.dirname(self._path), 0o700, exist_ok=True)
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            what = f"an agent already runs with {os.path.dirname(self._path)}"
            raise OperationError(Diagnostic(code="agent-running", what=what, fix="stop that one")) from None

    def __exit__(self, *_: object) -> None:
        os.close(self._file)
