"""``saltern fleet demo --console``: there is something to see, and nothing is left behind."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

from tests.fleet.e2e.test_demo import COMMAND, environment, place_of

from saltern.cli import exits
from saltern.cli.console_demo import BEN, PASSWORD
from saltern.fleet.client.client import Client


def test_the_console_has_a_failure_a_return_and_an_approval_to_show(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "--console"],
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            assert running.stderr is not None and running.stdout is not None
            directory = place_of(running.stderr.readline())
            said = ""
            while "Ctrl-C" not in said:
                line = running.stdout.readline()
                assert line, running.stderr.read()
                said += line
            assert re.search(r"https://127\.0\.0\.1:\d+/sign-in/link\?code=", said)
            with Client(str(directory / "controller" / "controller.sock")) as client:
                check(client)
        finally:
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=120)
    assert running.returncode == exits.INTERRUPTED
    assert not directory.exists()


def check(client: Client) -> None:
    (run,) = client.chain_runs.list()
    assert run["legs"] == {"failed": 1, "succeeded": 1, "pending": 1}
    kinds = {one["kind"]: one for one in client.inbox()["items"]}
    assert (kinds["gate"]["gate"], kinds["key"]["id"]) == ("wave 2", "new1")
    client.own.login(BEN, PASSWORD)
    digest = kinds["gate"]["digest"]
    done = client.chain_runs.vote(run["run"], "wave 2", approves=True, plan_sha256=digest, reason="fine")
    assert done["status"] == "approved"
