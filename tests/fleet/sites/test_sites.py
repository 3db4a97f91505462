"""A site: a broker of its own, whose agents take part in the fleet over one link. Real processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.fleet.ssh.proxy import Wire
from tests.fleet.ssh.server import free_port

from saltern.cli.local_fleet import CONTROLLER, LocalFleet
from saltern.fleet.broker.sites import Kit
from saltern.fleet.controller.new_site import add_site
from saltern.fleet.controller.paths import controller_paths
from saltern.fleet.controller.settings import load_settings

PATIENCE = 120.0
DAY = 86_400.0
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


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    directory = Path(tempfile.mkdtemp(prefix="site")).resolve()
    here = Fleet(directory)
    try:
        here.start()
        yield here
    finally:
        here.stop()
        shutil.rmtree(directory, ignore_errors=True)


def test_an_agent_of_the_site_is_a_system_like_any_other(fleet: Fleet) -> None:
    fleet.until(lambda: fleet.is_here("e1"))
    done = fleet.on("apply", "motd", "--on", "*", "--out", "json")
    assert done.returncode == 0, done.stderr + fleet.logs()
    assert (fleet.base / "out" / "e1").read_text() == "of the controller\n"
    (state,) = json.loads(done.stdout)["e1"].values()
    assert state["result"] is True


def test_a_link_that_is_cut_loses_neither_a_return_nor_a_job(fleet: Fleet) -> None:
    fleet.until(lambda: fleet.is_here("e1"))
    mark = fleet.base / "mark"
    running = fleet.submit("apply", "wait", "--on", "e1")
    fleet.until(mark.exists)
    fleet.wire.cut()
    (fleet.base / "gate").touch()  # it ends while no controller can hear of it
    late = fleet.submit("call", "test.echo", "late", "--on", "e1", "--expires", "600")
    fleet.wire.restore()
    for jid in (running, late):
        fleet.until(lambda jid=jid: fleet.rows(jid)["e1"]["status"] == "returned")  # type: ignore[misc]
    assert mark.read_text() == "once\n"


def test_a_revoked_key_is_sent_away_from_the_broker_of_the_site(fleet: Fleet) -> None:
    fleet.join("e2")
    fleet.until(lambda: fleet.is_here("e2"))
    assert fleet.on("fleet", "keys", "revoke", "e2").returncode == 0
    log = fleet.base / "east/site/east/broker.log"
    fleet.until(lambda: not fleet.is_here("e2"))
    fleet.until(lambda: "authentication error" in log.read_text())


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("add", "East"), "cannot be the name of a site"),
        (("add", "east", "--address", "nowhere"), "is no address of a broker"),
        (("add", "east"), "use --address HOST:PORT"),
        (("run", "nosuch.kit"), "is not the kit of a site"),
        (("sync", "east"), "site add NAME"),
    ],
)
def test_what_cannot_be_is_named(fleet: Fleet, words: tuple[str, ...], what: str) -> None:
    more = ("--address", "127.0.0.1:1") if words == ("add", "East") else ()
    done = fleet.run("site", *words, *more, "--directory", str(fleet.base / "controller"))
    assert done.returncode == 1
    assert what in done.stderr


def test_the_certificate_of_the_broker_is_renewed_in_use(fleet: Fleet) -> None:
    """A kit that is made as it was 300 days ago: the site gets the next certificate over its link, keeps it
    over a restart, and its agent stays connected.
    """
    kit = json.loads((fleet.base / "east.kit").read_text())
    paths = controller_paths(str(fleet.base / "controller"))
    old = add_site(
        paths,
        load_settings(paths),
        "east",
        (f"127.0.0.1:{kit['port']}",),
        through=(f"127.0.0.1:{fleet.wire.port}",),
        now=time.time() - 300 * DAY,
    )
    (fleet.base / "east.kit").write_bytes(msgspec.json.encode(old))
    fleet.stop_site()
    fleet.run_site()
    fleet.until(lambda: "it has a new one" in (fleet.base / "east.log").read_text())
    fleet.until(lambda: served(old) != old.certificate.split(END)[0])
    renewed = served(old)
    fleet.until(lambda: fleet.on("call", "test.ping", "--on", "e1").returncode == 0)
    fleet.stop_site()
    fleet.run_site()
    assert served(old) == renewed
    fleet.until(lambda: fleet.on("call", "test.ping", "--on", "e1").returncode == 0)


END = "-----END CERTIFICATE-----"


def served(kit: Kit) -> str:
    """The certificate with which the broker of a site answers, checked by the CA of the fleet."""
    context = ssl.create_default_context(cadata=kit.ca)
    with socket.create_connection((kit.host, kit.port), timeout=10) as plain:
        plain.recv(4096)  # its greeting comes before TLS
        with context.wrap_socket(plain, server_hostname=kit.host) as wrapped:
            der = wrapped.getpeercert(binary_form=True)
    assert der is not None
    return ssl.DER_cert_to_PEM_cert(der).split(END)[0]
