"""A machine that goes away in the middle of a run and comes back: a PID namespace with its own sshd and /run.

Its process 1 is a shell; when that ends, the kernel ends all that runs there, and the next boot has another
process 1 and another /run. The command that would reboot makes a file that process 1 waits for, and asks all
other processes to end, as an init does.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.fleet.ssh.server import SSHD, Server
from tests.fleet.ssh.test_apply import Laptop
from tests.fleet.ssh.test_fleet import Place

from saltern.cli.local_fleet import CONTROLLER

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: namespaces"),
    pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare"),
]
INIT = """\
mount -t proc proc /proc && mount -t tmpfs tmpfs /run && mkdir -p /run/sshd || exit 77
cut -d' ' -f22 /proc/1/stat >> {place}/boots
{sshd} -D -e -f {place}/sshd_config 2>> {place}/log &
while [ ! -e /run/go-down ]; do sleep 0.05; done
exit 0
"""
LOOP = """\
while [ ! -e {place}/stop ]; do
unshare --pid --fork --mount --kill-child /bin/sh {place}/init || exit $?
done
"""
STATES = """
before:
  cmd.run:
    - name: echo before $(cut -d' ' -f22 /proc/1/stat) >> {place}/seen

restart:
  system.reboot:
    - only_on_pending_reboot: false
    - require:
      - cmd: before

after:
  cmd.run:
    - name: echo after $(cut -d' ' -f22 /proc/1/stat) >> {place}/seen
    - require:
      - system: restart
"""


@contextmanager
def machine(directory: Path) -> Iterator[Server]:
    """An sshd that comes back with each boot of its machine."""
    config = directory / "machine.yaml"
    server = Server(directory, lines=(f"SetEnv SALTERN_CONFIG={config}",))
    config.write_text("reboot_command: [sh, -c, 'touch /run/go-down; kill -TERM -1']\n")
    (directory / "init").write_text(INIT.format(place=directory, sshd=SSHD))
    loop = subprocess.Popen(["/bin/sh", "-c", LOOP.format(place=directory)], start_new_session=True)
    try:
        server.until_listening()
        yield server
    finally:
        (directory / "stop").touch()
        os.killpg(loop.pid, 9)
        loop.wait()


def test_a_run_continues_after_its_machine_has_rebooted(tmp_path: Path) -> None:
    with machine(tmp_path / "machine") as server:
        place = server.directory
        laptop = Laptop(tmp_path / "laptop", server)
        laptop.hosts("web1")
        laptop.sls(STATES.format(place=place))
        process = laptop.start("apply", "web", "--out=jsonl")
        out, err = process.communicate(timeout=120)
    lines = [json.loads(line) for line in out.splitlines()]
    one, two = (place / "boots").read_text().split()
    assert one != two
    assert (place / "seen").read_text().splitlines() == [f"before {one}", f"after {two}"], err
    down = next(row for row in lines if row.get("status") == "down")
    assert down["back_by"] > 0
    (ended,) = (row for row in lines if row["event"] == "return")
    results = [state["result"] for state in ended["return"].values()]
    assert (ended["status"], results) == ("returned", [True, True, True])
    assert process.returncode == 0


CHAIN = """
chain: patch
actions:
  - {{id: before, command: "echo before $(cut -d' ' -f22 /proc/1/stat) >> {place}/seen"}}
  - {{id: restart, reboot: {{}}}}
  - {{id: after, command: "echo after $(cut -d' ' -f22 /proc/1/stat) >> {place}/seen"}}
"""


def test_a_chain_from_a_controller_continues_after_the_reboot_of_its_host(server: Server) -> None:
    """The controller is away while the host goes down, and another one finds the leg where it is."""
    directory = Path(tempfile.mkdtemp(prefix="sr"))  # short: it holds sockets
    place = Place(directory, server)
    with machine(directory / "machine") as host:
        try:
            place.start(agents=(), s1=entry_of(host, place))
            check_chain(place, host.directory)
        finally:
            place.fleet.stop()
    shutil.rmtree(directory, ignore_errors=True)


def entry_of(host: Server, place: Place) -> dict[str, object]:
    known = f"UserKnownHostsFile={host.known_hosts}"
    options = ["IdentitiesOnly=yes", "IdentityAgent=none", known]
    return place.entry(
        "s1", port=host.port, priv=str(host.key), thin_dir=f"{host.directory}/base", ssh_options=options
    )


def check_chain(place: Place, host: Path) -> None:
    (place.base / "patch.yaml").write_text(CHAIN.format(place=host))
    run = place.run("chain", "run", "patch.yaml", "--on", "s1", "--detach").stdout.strip()
    boots, seen = host / "boots", host / "seen"
    place.until(lambda: seen.exists() and boots.read_text().count("\n") == 2)
    place.fleet.end(CONTROLLER, how=9)
    place.fleet.start_controller()
    place.until(lambda: "succeeded" in place.run("chain", "show", run).stdout.splitlines()[0])
    one, two = boots.read_text().split()
    assert one != two
    assert seen.read_text().splitlines() == [f"before {one}", f"after {two}"]
