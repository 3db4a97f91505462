"""A token that is used twice, the data of the broker gone, a database of yesterday."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator

import pytest
from tests.fleet.faults.kit import (
    FaultFleet,
    local_fleet,
    ping,
    short_directory,
    statuses,
    wait_returned,
    wait_until,
)


@pytest.fixture
def fleet() -> Iterator[FaultFleet]:
    with short_directory() as directory, local_fleet(directory, "web1") as fleet:
        yield fleet


def test_a_token_that_was_used_leaves_the_second_machine_waiting(fleet: FaultFleet) -> None:
    with fleet.client() as client:
        token = client.tokens.make()
    first = fleet.call("agent", "join", token, "--directory", "web2", "--id", "web2")
    second = fleet.call("agent", "join", token, "--directory", "web3", "--id", "web3", "--wait", "0")
    assert (first.returncode, second.returncode == 0) == (0, False), second
    assert "accept" in second.stderr + second.stdout
    with fleet.client() as client:
        assert client.systems.get("web3")["state"] == "pending"


def is_online(fleet: FaultFleet) -> bool:
    with fleet.client() as client:
        return bool(client.systems.get("web1")["online"])


def test_a_broker_whose_data_is_gone_and_a_database_of_yesterday_are_completed(fleet: FaultFleet) -> None:
    database = fleet.base / "controller" / "controller" / "fleet.db"
    with sqlite3.connect(database) as source, sqlite3.connect(fleet.base / "yesterday.db") as copy:
        source.backup(copy)
    jid = fleet.slow_job("web1", sleep=0)
    wait_returned(fleet, jid)
    fleet.end("controller")
    shutil.rmtree(fleet.base / "controller" / "controller" / "broker" / "streams")
    fleet.start_controller()
    wait_until(lambda: is_online(fleet), "web1 does not come back after the loss of the broker's data")
    ping(fleet, "web1")
    assert statuses(fleet, jid) == {"web1": "returned"}
    fleet.end("controller")
    for path in database.parent.glob("fleet.db-*"):
        path.unlink()
    shutil.copyfile(fleet.base / "yesterday.db", database)
    fleet.start_controller()
    wait_until(lambda: is_online(fleet), "web1 does not come back after the restore")
    again = fleet.slow_job("web1", sleep=0, mark="y")
    wait_returned(fleet, again)
    assert fleet.marked("web1") == ["x", "y"]  # the job that the database has forgotten is not done again
