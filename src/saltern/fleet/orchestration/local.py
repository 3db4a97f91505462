"""The process of an orchestration, as runners use it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from saltern.config.settings import state_directory
from saltern.engine.session import Session
from saltern.fleet.client.client import Client
from saltern.fleet.orchestration.own_runners import OwnRunners, RunnerCall
from saltern.fleet.protocol.ids import new_jid
from saltern.fleet.runners.ports import runner_problem
from saltern.fleet.runners.table import names, run_runner
from saltern.system import atomic, own_program

LONGEST = 60  # characters of the number of an orchestration
PARENT = "SALTERN_ORCHESTRATION"  # in the environment: the orchestration that a process belongs to
FLAGS = {"saltenv": "--saltenv", "pillarenv": "--pillarenv"}


class SessionLocal:
    """Implements ``fleet.runners.ports.Local``. ``words`` are the options of this command that a
    nested orchestration also gets; ``jid`` is the number of this one."""

    def __init__(
        self, session: Session, connect: Callable[[], Client], jid: str, words: Sequence[str]
    ) -> None:
        self._session = session
        self._connect = connect
        self._jid = jid
        self._words = list(words)
        self._own = OwnRunners(session, self._builtin)

    def function(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        if name not in self._session.salt:
            return f"'{name}' is not available."
        return self._session.caller.function(name, args, kwargs)

    def pillar(self) -> Mapping[str, object]:
        return self._session.pillar

    def runner(self, name: str) -> RunnerCall | None:
        return self._own.get(name)

    def _builtin(self, name: str) -> RunnerCall | None:
        """A built-in runner, for a user's runner that calls it."""
        if name not in names():
            return None

        def call(*args: object, **kwargs: object) -> object:
            with self._connect() as client:
                return run_runner(name, args, kwargs, client, jid=self._jid, local=self)

        return call

    def orchestrate(self, options: Mapping[str, object], token: str) -> dict[str, Any]:
        """Run an orchestration in its own process, which outlives this one; one that was started before with
        the same token is continued, or reported if it has ended.
        """
        jid = child_jid(self._jid, token) if self._jid else new_jid(time.time())
        folder = state_directory(self._session.settings)
        os.makedirs(folder, 0o700, exist_ok=True)
        pillar = os.path.join(folder, f"{jid}.pillar")
        atomic.write(pillar, json.dumps(options.get("pillar") or {}).encode())  # no command line shows it
        done = subprocess.run(
            own_program.command("saltern", [*self._command(jid, options, pillar)]),
            env=own_program.environment(**({PARENT: self._jid} if self._jid else {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
        )
        os.remove(pillar)
        try:
            data = json.loads(done.stdout)["local"]
        except (ValueError, KeyError, TypeError):
            lines = done.stderr.strip().splitlines()
            raise runner_problem("\n".join(lines[-5:]) or f"exit code {done.returncode}") from None
        found = {self._session.settings.id: data}
        return {"data": found, "outputter": "highstate", "retcode": int(done.returncode != 0), "jid": jid}

    def _command(self, jid: str, options: Mapping[str, object], pillar: str) -> list[str]:
        sls = options["sls"]
        words = ["orchestrate", "--jid", jid, "--out", "json", f"--pillar={pillar}", *self._words]
        words += [f"{FLAGS[name]}={options[name]}" for name in FLAGS if options.get(name)]
        if options.get("exclude"):
            words.append(f"--exclude={json.dumps(options['exclude'])}")
        if options.get("test"):
            words.append("--test")
        return [*words, "--", *(sls if isinstance(sls, list) else [str(sls)])]


def child_jid(parent: str, token: str) -> str:
    """The number of an orchestration within another: the same for the same token."""
    step = token.partition(".")[2] or token
    name = f"{parent}_{step.replace('+', '-')}"
    if len(name) <= LONGEST:
        return name
    from hashlib import sha256

    return f"{parent[:40]}_{sha256(name.encode()).hexdigest()[:16]}"
