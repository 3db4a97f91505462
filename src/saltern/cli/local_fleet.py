"""A controller and agents as processes of this user, below one directory: for the demonstration and tests."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from saltern.fleet.client.client import Client
from saltern.fleet.client.problems import ControllerError
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system import own_program

PATIENCE = 60.0  # seconds for a process to become ready
LOOK = 0.1
GRACE = 15.0  # seconds for a process to end
CONTROLLER = "controller"
# Only for this machine, on ports that are free.
CONFIG = "host: 127.0.0.1\nport: 0\nnames: [127.0.0.1]\napi: {port: 0}\n"


class LocalFleet:
    """The processes, and the directory for everything: ``controller/``, one for each system, and logs."""

    def __init__(self, directory: str, environment: Mapping[str, str] | None = None) -> None:
        self.directory = directory
        self.socket = os.path.join(directory, CONTROLLER, "controller.sock")
        self.states = os.path.join(directory, CONTROLLER, "salt")
        self._environment = dict(environment if environment is not None else own_program.environment())
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def client(self) -> Client:
        return Client(self.socket)

    def write(self, path: str, text: str) -> None:
        """Write a file below the directory."""
        whole = os.path.join(self.directory, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(text)

    # -- start -------------------------------------------------------------------------------------

    def start(self, systems: Sequence[str]) -> None:
        """Start the controller, then the agents, and wait until all are ready."""
        self.start_controller()
        for name in systems:
            self.join(name)
            self.run_agent(name)
        with self.client() as client:
            self.wait("an agent", lambda: all(_is_ready(client, name) for name in systems))

    def start_controller(self) -> None:
        if not os.path.exists(os.path.join(self.directory, CONTROLLER, "controller.yaml")):
            self.write("controller/controller.yaml", CONFIG)
        self._spawn(CONTROLLER, "controller", "--directory", os.path.join(self.directory, CONTROLLER))
        self.wait("the controller", lambda: _answers(self.client()))

    def join(self, name: str) -> None:
        """Make a token, and let a system join with it."""
        with self.client() as client:
            token = client.tokens.make()
        words = ["agent", "join", token, "--directory", os.path.join(self.directory, name), "--id", name]
        done = self.call(*words)
        if done.returncode:
            what = f"{name} cannot join: {done.stderr.strip()}"
            raise OperationError(Diagnostic(code="local-fleet", what=what))

    def ask_to_join(self, name: str, token: str) -> None:
        """Let a system ask to join; the process waits for an operator's decision."""
        directory = os.path.join(self.directory, name)
        self._spawn(name, "agent", "join", token, "--directory", directory, "--id", name)

    def run_agent(self, name: str) -> None:
        self._spawn(name, "agent", "run", "--directory", os.path.join(self.directory, name))

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run one of our commands to its end."""
        return subprocess.run(
            own_program.command("saltern", words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.directory,
            env=self._environment,
        )

    def _spawn(self, name: str, *words: str) -> None:
        """Start a background process that Ctrl-C does not reach; its output goes to a file."""
        with open(self.log(name), "ab") as log:
            self._running[name] = subprocess.Popen(
                own_program.command("saltern", words),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=self.directory,
                env=self._environment,
            )

    def is_running(self, name: str) -> bool:
        return name in self._running

    def log(self, name: str) -> str:
        return os.path.join(self.directory, f"{name}.log")

    def wait(self, what: str, is_there: Callable[[], bool]) -> None:
        """Wait until ``is_there`` is true; raise if one of the processes ends meanwhile."""
        end = time.monotonic() + PATIENCE
        while not is_there():
            ended = [name for name, one in self._running.items() if one.poll() is not None]
            if ended or time.monotonic() > end:
                why = f"{ended[0]} has ended" if ended else f"{what} was not ready in time"
                raise _problem(why, self.log(ended[0] if ended else CONTROLLER))
            time.sleep(LOOK)

    # -- stop --------------------------------------------------------------------------------------

    def stop(self) -> None:
        """End running work, then the agents, then the controller."""
        with suppress(ControllerError), self.client() as client:
            for job in client.jobs.list(open=True):
                client.jobs.cancel(job["jid"], hard=True)
        agents = [name for name in self._running if name != CONTROLLER]
        self.end(*agents)
        self.end(CONTROLLER)

    def end(self, *names: str, how: int = signal.SIGTERM) -> None:
        """End processes with a signal, and kill those that do not end."""
        some = [self._running.pop(name) for name in names if name in self._running]
        for one in some:
            with suppress(ProcessLookupError):
                one.send_signal(how)
        for one in some:
            try:
                one.wait(GRACE)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(one.pid, signal.SIGKILL)
                one.wait()


def _is_ready(client: Client, name: str) -> bool:
    """True if an agent is connected and has reported its grains."""
    with suppress(ControllerError):
        return bool(client.systems.get(name)["online"] and client.systems.facts(name))
    return False


def _answers(controller: Client) -> bool:
    with suppress(ControllerError), controller as client:
        return bool(client.health())
    return False


def _problem(what: str, log_file: str) -> OperationError:
    last = ""
    with suppress(OSError), open(log_file, errors="replace") as log:
        last = log.read().strip()[-600:]
    said = f"; its last line: {last}" if last else ""
    return OperationError(Diagnostic(code="local-fleet", what=f"{what}{said}"))
