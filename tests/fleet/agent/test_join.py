"""What `saltern agent join` and `leave` say when something is in the way."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest
from tests.fleet.faults.small_disk import small_disk
from tests.fleet.harness import run
from tests.fleet.kit import Fleet

from saltern.fleet.agent.join import join, reach
from saltern.fleet.agent.paths import agent_paths
from saltern.fleet.identity.token import write_token
from saltern.language.diagnostics import OperationError
from saltern.system import own_program


@pytest.mark.parametrize(
    "servers",
    [("tls://localhost:4222",), ("tls://127.0.0.1:4222", "tls://localhost:4222"), ("tls://[::1]:4222",)],
)
def test_a_token_for_the_controllers_own_machine_is_explained(servers: tuple[str, ...]) -> None:
    assert "names: [NAME OR ADDRESS]" in reach(servers)


@pytest.mark.parametrize(
    "servers", [("tls://fleet.example:4222",), ("tls://127.0.0.1:4222", "tls://10.1.2.3:4222")]
)
def test_one_with_other_addresses_asks_for_the_network(servers: tuple[str, ...]) -> None:
    assert "can this machine reach its port" in reach(servers)


def token_of(folder: Path) -> str:
    """A token of a fleet whose broker does not run."""
    fleet = Fleet(folder)
    return write_token(fleet.token())


def test_a_broker_that_is_not_there_is_told_in_the_words_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OperationError) as problem:
        join(agent_paths(str(tmp_path / "web1")), token_of(tmp_path / "fleet"), "web1", wait=0, say=print)
    said = str(problem.value)
    assert "Connection refused" in said
    assert "Errno" not in said
    assert "names: [NAME OR ADDRESS]" in str(problem.value.diagnostics[0].fix)


def test_a_full_disk_is_named_with_what_to_do(tmp_path: Path) -> None:
    token, place = token_of(tmp_path / "fleet"), tmp_path / "web1"
    place.mkdir()
    with small_disk(place, "64k") as disk:
        disk.fill()
        words = ("agent", "join", token, "--directory", str(place), "--id", "web1")
        command = [*disk.inside, *own_program.command("saltern", words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert f"the keys of this machine cannot be kept in {place}" in done.stderr
    assert "No space left on device" in done.stderr
    assert "fix: free space there" in done.stderr


def test_who_is_in_a_fleet_is_told_how_to_leave_it_and_how_to_end_that(tmp_path: Path) -> None:
    async def joined() -> str:
        fleet = Fleet(tmp_path / "fleet")
        await fleet.start()
        try:
            token = write_token(fleet.token(uses=2))
            await asyncio.to_thread(join, paths, token, "web1", wait=0, say=print)
            return token
        finally:
            await fleet.stop()

    paths = agent_paths(str(tmp_path / "web1"))
    token = run(joined())
    with pytest.raises(OperationError) as problem:
        join(paths, token, "web1", wait=0, say=print)
    assert f"saltern agent leave --directory {tmp_path / 'web1'}" in str(problem.value.diagnostics[0].fix)
    words = ("agent", "leave", "--directory", str(tmp_path / "web1"))
    command = own_program.command("saltern", words)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "saltern fleet keys revoke web1" in done.stderr
