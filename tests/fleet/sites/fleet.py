"""A fleet with one site, in real processes; the wire between them can be cut, and counts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.fleet.ssh.proxy import Wire
from tests.fleet.ssh.server import free_port

from saltern.cli.local_fleet import CONTROLLER, LocalFleet

PATIENCE = 120.0
MOTD = "motd:\n  file.managed:\n    - name: {place}/out/{{{{ grains['id'] }}}}\n    - source: salt://text\n"
MOTD += "    - makedirs: true\n"
WAIT = """
mark:
  cmd.run:
    - name: echo once >> {place}/mark; until [ -e {place}/gate ]; do sleep 0.1; done
"""


class Fleet:
    """A controller, a site ``east`` with the agent ``e1``, and a wire between them that can be cut."""

    def __init__(self, directory: Path) -> None:
        self.base = directory
        self.env = {"PATH": os.environ["PATH"], "HOME": str(directory)}
        self.local = LocalFleet(str(directory), self.env)
        self.site: subprocess.Popen[bytes] | None = None
        self._wire: Wire | None = None

    def start(self) -> None:
        self.local.write("controller/salt/motd.sls", MOTD.format(place=self.base))
        self.local.write("controller/salt/wait.sls", WAIT.format(place=self.base))
        self.local.write("controller/salt/text", "of the controller\n")
        self.local.start([])
        port = free_port()
        self.add_site("--address", f"127.0.0.1:{port}")
        known = json.loads((self.base / "controller/controller/broker/sites.json").read_text())
        self._wire = Wire(known["port"])
        self.add_site("--address", f"127.0.0.1:{port}", "--through", f"127.0.0.1:{self.wire.port}")
        self.run_site()
        self.join("e1")

    @property
    def wire(self) -> Wire:
        assert self._wire is not None
        return self._wire

    def add_site(self, *words: str) -> None:
        done = self.run("site", "add", "east", *words, "--directory", str(self.base / "controller"))
        assert done.returncode == 0, done

    def run_site(self) -> None:
        command = [sys.executable, "-P", "-m", "saltern", "site", "run", "east.kit", "--directory", "east"]
        with open(self.base / "east.log", "ab") as log:
            self.site = subprocess.Popen(command, cwd=self.base, env=self.env, stderr=log)
        self.until(lambda: "agents reach it" in (self.base / "east.log").read_text())

    def stop_site(self) -> None:
        assert self.site is not None
        self.site.send_signal(signal.SIGTERM)
        self.site.wait(timeout=PATIENCE)
        (self.base / "east.log").write_text("")

    def join(self, name: str) -> None:
        token = self.on("fleet", "tokens", "new", "--site", "east").stdout.strip()
        done = self.run("agent", "join", token, "--directory", str(self.base / name), "--id", name)
        assert done.returncode == 0, done
        self.local.run_agent(name)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "saltern", *words],
            cwd=self.base,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def on(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run(words[0], "--controller", self.local.socket, *words[1:])

    def rows(self, jid: str) -> dict[str, Any]:
        with self.local.client() as client:
            return {row["system"]: row for row in client.jobs.targets(jid)}

    def submit(self, *words: str) -> str:
        done = self.on(*words, "--detach")
        assert done.returncode == 0, done
        return done.stdout.split()[-1]

    def is_here(self, name: str) -> bool:
        with self.local.client() as client:
            return any(one["id"] == name and one["online"] for one in client.systems.list())

    def until(self, is_so: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < end, self.logs()
            time.sleep(0.1)

    def logs(self) -> str:
        paths = [Path(self.local.log(CONTROLLER)), *self.base.glob("east/site/east/broker.log")]
        return "\n".join(path.read_text()[-3000:] for path in paths)

    def stop(self) -> None:
        self.local.stop()
        if self._wire is not None:
            self._wire.close()
        if self.site is not None:
            with suppress(ProcessLookupError):
                self.site.send_signal(signal.SIGTERM)
            self.site.wait(timeout=PATIENCE)
