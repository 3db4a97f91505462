"""A site: a broker of its own, whose agents take part in the fleet over one link. Real processes."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.fleet.sites.fleet import Fleet

from saltern.fleet.broker.sites import Kit
from saltern.fleet.controller.new_site import add_site
from saltern.fleet.controller.paths import controller_paths
from saltern.fleet.controller.settings import load_settings

DAY = 86_400.0


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
        (("add", "east", "--address", "nowhere"), "is not the address of a broker"),
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
    fleet.until(lambda: "was renewed" in (fleet.base / "east.log").read_text())
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
