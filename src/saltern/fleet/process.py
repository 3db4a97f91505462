"""The process of a controller: the controller and its API, until a signal ends it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable
from functools import partial

import uvloop

from saltern.fleet.access.ports import Principal
from saltern.fleet.access.service import Access
from saltern.fleet.access.sessions import Sessions
from saltern.fleet.api.app import Site, make_app
from saltern.fleet.api.server import ApiServer, Listen
from saltern.fleet.bus.tasks import end
from saltern.fleet.client.trust import ca_fingerprint
from saltern.fleet.controller.broken_orchestrations import BrokenOrchestrations
from saltern.fleet.controller.controller import Controller
from saltern.fleet.controller.paths import ControllerPaths
from saltern.fleet.controller.reactor.options import REACTOR
from saltern.fleet.controller.settings import ControllerSettings
from saltern.fleet.store.systems import systems
from saltern.language.diagnostics import OperationError
from saltern.system.files import read
from saltern.system.foreign import name_of
from saltern.system.garbage import BUSY, collect_from_now_on
from saltern.system.private import make_private

Say = Callable[[str], None]
FIRST_TOKEN = 86_400.0
PROCESSES = b"the secrets of processes that this controller starts"
_RELOADS: set[asyncio.Task[None]] = set()  # asyncio holds only weak references to tasks


def run(paths: ControllerPaths, settings: ControllerSettings, say: Say) -> None:
    """Run until SIGTERM or SIGINT. Raises ``OperationError`` if a part cannot be started."""
    logging.basicConfig(format="saltern: %(levelname)s: %(message)s", level=logging.WARNING)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(paths, settings, say))


async def _run(paths: ControllerPaths, settings: ControllerSettings, say: Say) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    controller = Controller(paths, settings)
    if not await _is_started(controller, stopped):
        return
    api = None
    try:
        api = await _start_api(controller, say)
        controller.upkeep.work.append(api.follow_certificate)
        collect_from_now_on(BUSY)
        await _announce(controller, api, say)
        await _until(stopped, controller)
    finally:
        say("the controller stops")
        if api is not None:
            controller.parts.hub.close()
            await api.stop()
        await controller.stop()


async def _is_started(controller: Controller, stopped: asyncio.Event) -> bool:
    """Start the controller; False if a signal came first, since brokers of a cluster may wait for
    each other. It may have to be cancelled repeatedly.
    """
    starting = asyncio.create_task(controller.start())
    signalled = asyncio.create_task(stopped.wait())
    await asyncio.wait({starting, signalled}, return_when=asyncio.FIRST_COMPLETED)
    await end(signalled)
    if starting.done():
        starting.result()
        return True
    await end(starting)
    if starting.cancelled() or starting.exception() is None:  # it stops itself if it fails
        await controller.stop()
    return False


async def _until(stopped: asyncio.Event, controller: Controller) -> None:
    """Return when a signal arrives. Raises the error that ended one of the controller's loops."""
    failed = controller.loops.failed
    failed.add_done_callback(lambda _: stopped.set())
    await stopped.wait()
    if failed.done():
        failed.result()


async def _start_api(controller: Controller, say: Say) -> ApiServer:
    settings, paths = controller.settings, controller.paths
    tls = os.path.join(paths.broker, "tls")
    path = settings.socket or paths.socket
    make_private(os.path.dirname(path))
    listen = Listen(
        socket=path,
        host=settings.api_host or controller.addresses.host,
        port=controller.addresses.api_port,
        certificate=settings.api_certificate or os.path.join(tls, "server.pem"),
        key=settings.api_key or ("" if settings.api_certificate else os.path.join(tls, "server.key")),
        trusted_proxies=settings.api_proxies,
    )
    policy = os.path.join(os.path.dirname(paths.config), "policy.yaml")
    access = Access(controller.database, policy_file=policy, host=controller.identity.file.name)
    await _load_policy(access, say)
    access.sessions.key = controller.identity.key.sign(PROCESSES)
    reactor = controller.parts.reactor.actor
    reactor.access, reactor.runners.secret = access, access.sessions.begin_internal(REACTOR)
    peers = controller.parts.peers
    peers.access, peers.runners.secrets = access, access.sessions
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, _reload_policy, access, say)
    ca = "" if settings.api_certificate else os.path.join(tls, "ca.pem")
    site = _console(controller) if settings.api_console else None
    app = make_app(controller.parts.fleet, access, prefix=settings.api_prefix, ca=_text(ca), site=site)
    server = ApiServer(app, listen)
    await server.start()
    sessions = access.sessions
    broken = BrokenOrchestrations(
        controller.parts.calls, path, partial(_person, sessions), sessions.begin_internal
    )
    controller.loops.spawn_once(broken.run())
    app.desk.url = f"https://{controller.broker.settings.names[0]}:{server.port}"
    return server


def _person(sessions: Sessions, name: str) -> Principal:
    """The principal with this name, with its current rights."""
    own = {f"local:{name_of(uid)}" for uid in (0, os.geteuid())}
    if name == REACTOR.name:
        return REACTOR
    if name in own:
        return Principal(name=name, roles=("admin",), via="internal")
    return sessions.person(name)


def _console(controller: Controller) -> Site:
    """The web console; imported only by a controller that serves it."""
    from saltern.fleet.console.app import make_console

    return partial(make_console, name=controller.identity.file.name)


def _text(path: str) -> str:
    return (read(path) or b"").decode() if path else ""


async def _load_policy(access: Access, say: Say) -> None:
    """Apply policy.yaml if it exists; the controller does not start with mistakes in it."""
    for warning in await asyncio.to_thread(access.policies.load_file, time.time()):
        say(f"warning: {warning}")


def _reload_policy(access: Access, say: Say) -> None:
    """On SIGHUP: read policy.yaml again; if it has mistakes, keep the policy as it was."""

    async def reload() -> None:
        try:
            await _load_policy(access, say)
            say("policy.yaml was read again")
        except OperationError as problem:
            say(f"policy.yaml has mistakes, and the policy stays as it was:\n{problem}")

    task = asyncio.get_running_loop().create_task(reload())
    _RELOADS.add(task)
    task.add_done_callback(_RELOADS.discard)


async def _announce(controller: Controller, api: ApiServer, say: Say) -> None:
    """Print the addresses of the controller and, until a first system has asked to join, how to join one."""
    file = controller.identity.file
    servers = ", ".join(controller.broker.servers)
    say(f"controller {file.name} of fleet {file.fleet}: agents reach it at {servers}")
    name = controller.broker.settings.names[0]
    say(f"API: {api.listen.socket} and https://{name}:{api.port}")
    if ca := api.app.desk.ca:
        say(f"log in from elsewhere with --fingerprint {ca_fingerprint(ca)}")
    known = await controller.parts.calls.read(systems)
    tokens = await controller.parts.registry.tokens()
    if not known and not tokens:
        token = await controller.parts.registry.new_token("controller", life=FIRST_TOKEN, uses=1)
        say("a machine joins with this token, once, within a day:")
        print(f"saltern agent join {token}", flush=True)
    say("ready")
