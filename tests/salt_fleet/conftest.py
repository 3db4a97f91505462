"""A real Salt master with three minions that run saltern by the extension, for all tests of this folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from bench.fleet_salt import SALT, SaltFleet, environment, is_there

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "saltext" / "src"
FULL_RETURN = """\
import json, sys, salt.client
_, config, target, function, *words = sys.argv
print(json.dumps(salt.client.LocalClient(config).cmd(target, function, words, timeout=120, full_return=True)))
"""
HEARD = """\
import json, sys, salt.client, salt.config, salt.utils.event
_, config, target, function, *words = sys.argv
options = salt.config.master_config(config)
found, client = [], salt.client.LocalClient(config)
with salt.utils.event.get_master_event(options, options["sock_dir"], listen=True) as bus:
    jid = client.cmd_async(target, function, words)
    while not found or not found[-1]["tag"].startswith(f"salt/job/{jid}/ret/"):
        event = bus.get_event(full=True, wait=120, auto_reconnect=True)
        assert event, "no event for two minutes"
        if jid in event["tag"] or not event["tag"].startswith("salt/"):
            found.append(event)
print(json.dumps([[event["tag"].replace(jid, "JID"), event["data"]] for event in found]))
"""
MORE = """\
pillar_roots: {{base: [{place}/case-pillar, {place}/pillar]}}
fileserver_list_cache_time: 0
master_tops: {{ext_nodes: sh {place}/nodes}}
loop_interval: 1
colour: red
reactor:
  - salt/minion/*/start: [{place}/resume.sls]
saltern:
  program: {program}
  options:
    state_dir: {place}/state-{id}
    reboot_command: [touch, {place}/down-{id}]
    chains_in_memory: true
  returns: {{directory: {place}/returns-{id}, keep: 3}}
  look: 10
"""
# web1 continues by itself, web3 if it is asked again.
REACTION = """\
{% if data['id'] == 'web2' %}
resume:
  local.saltern.chain_continue:
    - tgt: {{ data['id'] }}
{% endif %}
"""
SCHEDULE = """\
schedule:
  saltern: {function: saltern.chain_continue, run_on_start: true, hours: 1, maxrunning: 1, return_job: false}
"""
OWN = {"master": "nodegroups: {pair: 'L@web1,web2'}\n", "web1": SCHEDULE, "web3": "state_events: true\n"}
"""What only one of them has in its configuration."""
MINIONS = ("web1", "web2", "web3")
# A machine that can be rebooted: its process 1 and its /run are its own.
MACHINE = ("unshare", "--pid", "--fork", "--mount", "--kill-child", "sh", "-c")
BOOT = 'mount -t proc proc /proc && mount -t tmpfs tmpfs /run && exec "$@"'


class Salt(SaltFleet):
    """The fleet, and what tests ask of it."""

    def ask(self, target: str, *words: str) -> dict[str, Any]:
        """What each minion returns, with its return code."""
        done = self.command(
            "salt", target, *words, "--static", "--out", "json", "--out-indent", "-1", "-t", "120"
        )
        try:
            found: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise AssertionError(f"salt {words}: {done.stdout}{done.stderr}") from None
        return found

    def details(self, minion: str, *words: str) -> dict[str, Any]:
        """The return of one minion as the master has it: ``ret``, ``retcode`` and ``out``."""
        found: dict[str, Any] = self._script(FULL_RETURN, minion, *words)[minion]
        return found

    def heard(self, minion: str, *words: str) -> list[tuple[str, dict[str, Any]]]:
        """The events of a job of one minion and those that are not Salt's, up to its return."""
        return [(tag, data) for tag, data in self._script(HEARD, minion, *words)]

    def _script(self, script: str, *words: str) -> Any:
        """What a script prints that has Salt's libraries and the configuration of the master."""
        done = subprocess.run(
            [sys.executable, "-c", script, str(self.place / "etc-master" / "master"), *words],
            env=environment(self.salt),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @contextmanager
    def begun(self, target: str, *words: str) -> Iterator[subprocess.Popen[str]]:
        """A command of the master that has begun; it is not waited for."""
        command = self._command("salt", "-c", str(self.place / "etc-master"), target, *words, "-t", "120")
        with subprocess.Popen(
            command, env=environment(self.salt), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as job:
            try:
                yield job
            finally:
                job.kill()

    def local(self, minion: str, *words: str, saltern: str) -> str:
        """What ``salt-call`` prints on a minion whose configuration has another ``saltern``."""
        folder = self.place / f"call-{minion}"
        folder.mkdir(exist_ok=True)
        (folder / "minion").write_text(
            f"root_dir: {self.place}/{minion}\nid: {minion}\nfile_client: local\n"
            f"file_roots: {{base: [{self.place}/states]}}\nsaltern: {saltern}\n"
        )
        command = self._command("salt-call", "-c", str(folder), *words)
        done = subprocess.run(
            command, env=environment(self.salt), capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    def _spawn(self, program: str, name: str, *before: str) -> None:
        """Start a program; web3 is a machine of its own."""
        super()._spawn(program, name, *(before or ((*MACHINE, BOOT, "sh") if name == "web3" else ())))

    def runner(self, function: str, *words: str) -> Any:
        """What a function of a runner returns."""
        done = self.command("salt-run", function, *words, "--out", "json")
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise AssertionError(f"salt-run {function}: {done.stdout}{done.stderr}") from None

    @contextmanager
    def chain(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        """``saltern chain … --via salt`` that has begun."""
        command = [sys.executable, "-m", "saltern", "chain", *words, "--via", "salt"]
        command += [
            "--salt-config",
            str(self.place / "etc-master"),
            "--salt-run",
            str(self.program("salt-run")),
        ]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.place
        ) as job:
            try:
                yield job
            finally:
                job.kill()

    def chained(self, *words: str) -> tuple[int, Any]:
        """The exit code of ``saltern chain … --via salt``, and its answer as data."""
        with self.chain(*words, "--out", "json") as job:
            output, errors = job.communicate()
        assert output, errors
        return job.returncode, json.loads(output)

    def _configure(self, kind: str, config: str, **values: object) -> None:
        super()._configure(kind, config, **values)
        name = str(values.get("id", kind))
        if name in OWN:
            with (self.place / f"etc-{name}" / kind).open("a") as file:
                file.write(OWN[name])

    def program(self, name: str) -> Path:
        """A program of Salt that finds its libraries."""
        path = self.place / name
        if not path.exists():
            libraries = environment(self.salt)["PYTHONPATH"]
            command = f"env PYTHONPATH={libraries} {sys.executable} {self.salt}/bin/{name}"
            path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            path.chmod(0o755)
        return path

    def write(self, name: str, text: str) -> None:
        """Write a file of the master's file roots."""
        path = self.place / "states" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salt]:
    if not is_there():
        pytest.skip("needs root, and Salt in build/salt")
    with running(tmp_path_factory.mktemp("salt")) as found:
        yield found


@contextmanager
def running(place: Path, minions: tuple[str, ...] = MINIONS, *, version: Path = SALT) -> Iterator[Salt]:
    """The master and its minions, with the extension synchronised."""
    for name in ("states", "pillar"):
        (place / name).mkdir()
    _fill(place)
    program = Path(sys.executable).parent / "saltern"
    salt = Salt(place, place / "states", more=MORE.replace("{program}", str(program)), salt=version)
    try:
        salt.start(minions)
        salt.runner("saltutil.sync_all")
        salt.ask("*", "saltutil.sync_all")
        yield salt
    finally:
        salt.stop()


def _fill(place: Path) -> None:
    command = [sys.executable, "-m", "saltext.saltern", str(place / "states")]
    subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(EXTENSION)}, check=True, stdout=subprocess.DEVNULL
    )
    (place / "resume.sls").write_text(REACTION)
    (place / "nodes").write_text(f"cat {place}/nodes.yaml 2>/dev/null || echo '{{}}'\n")
    (place / "pillar" / "top.sls").write_text("base:\n  '*': [who]\n")
    (place / "pillar" / "who.sls").write_text("who: {{ grains.id }}\n")
