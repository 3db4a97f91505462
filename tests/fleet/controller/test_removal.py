"""A controller that is gone for good is removed, and a fourth takes its place.

With ``make chaos`` with real controllers; what brokers do is in `broker/test_cluster.py`.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.fleet.controller.nine import Nine, admit
from tests.fleet.controller.processes import ControllerProcess, saltern, wait_for
from tests.fleet.databases import sqlite_database
from tests.fleet.harness import run
from tests.postgres_server import running_server

from saltern.cli import exits
from saltern.fleet.controller.certificates import NAME as CERTIFICATES
from saltern.fleet.controller.identity import ControllerIdentity, load_identity, load_or_make_identity
from saltern.fleet.controller.links import change_of
from saltern.fleet.controller.members import REMOVED, Member, members, set_member, withdrawals
from saltern.fleet.controller.removal import check_not_removed, remove
from saltern.fleet.controller.sync import settle
from saltern.fleet.protocol.messages import Signed, SyncRequest
from saltern.fleet.protocol.withdrawal import withdrawn_key
from saltern.fleet.store import audit
from saltern.fleet.store.database import Database
from saltern.fleet.store.leases import lease_holder, take
from saltern.fleet.store.settings import read_setting, write_setting
from saltern.language.diagnostics import OperationError

pytestmark = pytest.mark.slow


@pytest.fixture
def nine(tmp_path: Path) -> Iterator[Nine]:
    with running_server() as server:
        made = Nine(tmp_path, server, light=3)
        yield made
        made.clean_up()


def ready(*some: ControllerProcess) -> None:
    for one in some:
        wait_for(lambda one=one: one.client.ready(), one.log)  # type: ignore[misc]


def failing(*argv: str) -> str:
    """What a command says that does nothing."""
    return saltern(*argv, code=exits.SURROUNDINGS, stream="stderr")


@pytest.mark.skipif("CHAOS_SECONDS" not in os.environ, reason="make chaos: seven starts and two elections")
@pytest.mark.timeout(0)
def test_one_of_three_is_gone_for_good_and_a_fourth_takes_its_place(nine: Nine) -> None:
    async def scenario() -> None:
        await nine.start()
        first, second, third = nine.three
        here = "--directory", str(first.folder)

        assert "is not gone" in failing("controller", "remove", "c3", *here)
        assert "there are: c1, c2, c3" in failing("controller", "remove", "db", *here)
        assert "this controller itself" in failing("controller", "remove", "c1", *here)

        third.kill_machine()
        said = saltern("controller", "remove", "c3", *here, stream="stderr")
        assert "left: c1, c2" in said and "controller invite" in said
        for one in (first, second):
            await asyncio.to_thread(
                wait_for,
                lambda one=one: "controller c3 no longer counts in the cluster" in one.log.read_text(),  # type: ignore[misc]
                one.log,
            )
        await asyncio.to_thread(ready, first, second)
        nine.three = [first, second]
        await nine.ping()

        fourth = nine.another("c4")
        await asyncio.to_thread(admit, first, fourth)
        await asyncio.to_thread(fourth.start)
        nine.three = [first, second, fourth]
        await asyncio.to_thread(ready, *nine.three)
        await nine.ping()

        # Two of these three are enough: the fourth has copies of the streams, and the third counts no longer.
        first.kill_machine()
        nine.three = [second, fourth]
        await nine.ping()

        # The third comes back from the dead, and is not let in.
        third.launch()
        assert third.wait() != 0
        assert "was removed from the fleet" in third.log.read_text()
        await nine.stop()

    run(scenario(), timeout=600)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = sqlite_database(tmp_path / "fleet.db")
    yield made
    made.close()


def identity(folder: Path, name: str) -> ControllerIdentity:
    load_or_make_identity(str(folder / name), fleet="f", name=name, now=time.time())
    return load_identity(str(folder / name))


def note(database: Database, *some: ControllerIdentity, server: str = "tls://127.0.0.1:1") -> None:
    with database.write() as connection:
        for one in some:
            set_member(connection, one.file.name, Member(servers=(server,), certificate=one.certificate))


def test_what_a_removed_controller_had_is_free_and_it_does_not_come_back(
    database: Database, tmp_path: Path
) -> None:
    one, two = identity(tmp_path, "c1"), identity(tmp_path, "c2")
    note(database, one, two)
    with database.write() as connection:
        write_setting(connection, CERTIFICATES, {"c2": two.certificate})
        take(connection, "retention", "c2", 60)
        take(connection, "chains", "c1", 60)
    assert remove(database, one, "c2", now=time.time()) == ("c1",)
    with database.write() as connection:
        assert members(connection).keys() == {"c1"}
        assert not read_setting(connection, CERTIFICATES, dict[str, Signed])
        assert (lease_holder(connection, "retention")[1], lease_holder(connection, "chains")[1]) == (
            False,
            True,
        )
        assert take(connection, "retention", "c1", 60) == 2
        assert audit.verify(connection) == ""
        check_not_removed(connection, one)
        with pytest.raises(OperationError, match="was removed from the fleet"):
            check_not_removed(connection, two)


def withdrawn_by(database: Database, one: ControllerIdentity) -> list[str]:
    with database.read() as connection:
        found = withdrawals(connection)
    return [withdrawn_key(signed, one.file.fleet, one.file.roots) for signed in found]


def test_the_root_withdraws_the_key_of_a_removed_controller_and_agents_learn_of_it(
    database: Database, tmp_path: Path
) -> None:
    one, two = identity(tmp_path, "c1"), identity(tmp_path, "c2")
    note(database, one, two)
    remove(database, one, "c2", now=time.time())
    assert withdrawn_by(database, one) == [two.key.public.hex()]
    with database.write() as connection:
        answer = settle(connection, "web1", SyncRequest(nonce="n", instance="i"), time.time())
        assert list(answer.withdrawn) == withdrawals(connection)
        assert audit.verify(connection) == ""
    with pytest.raises(OperationError, match="no controller 'c2'"):
        remove(database, one, "c2", now=time.time())


def test_without_the_root_key_it_is_withdrawn_later_where_the_root_is(
    database: Database, tmp_path: Path
) -> None:
    one, two, three = (identity(tmp_path, name) for name in ("c1", "c2", "c3"))
    note(database, one, two, three)
    rootless = replace(two, root=None)
    assert remove(database, rootless, "c3", now=time.time()) == ("c1", "c2")
    assert withdrawn_by(database, one) == []
    with pytest.raises(OperationError, match="no controller 'c3'"):
        remove(database, rootless, "c3", now=time.time())
    assert remove(database, one, "c3", now=time.time()) == ("c1", "c2")
    assert withdrawn_by(database, one) == [three.key.public.hex()]


def test_the_key_of_one_that_is_a_controller_is_never_withdrawn(database: Database, tmp_path: Path) -> None:
    one, two = identity(tmp_path, "c1"), identity(tmp_path, "c2")
    note(database, one, two)
    with database.write() as connection:
        keys = [two.key.public.hex(), one.key.public.hex(), ""]
        write_setting(connection, REMOVED, {"c9": keys})
    with pytest.raises(OperationError, match="no controller 'c9'"):
        remove(database, one, "c9", now=time.time())
    assert withdrawn_by(database, one) == []


def test_another_machine_may_have_the_name_of_one_that_was_removed(
    database: Database, tmp_path: Path
) -> None:
    one, two = identity(tmp_path, "c1"), identity(tmp_path, "c2")
    note(database, one, two)
    remove(database, one, "c2", now=time.time())
    again = identity(tmp_path / "new", "c2")
    note(database, again)
    with database.write() as connection:
        check_not_removed(connection, again)
    remove(database, one, "c2", now=time.time())
    with database.write() as connection:
        for old in (two, again):
            with pytest.raises(OperationError):
                check_not_removed(connection, old)


@pytest.mark.parametrize(
    ("name", "says"), [("c1", "this controller itself"), ("c3", "no controller 'c3'"), ("c2", "is not gone")]
)
def test_who_is_not_removed(database: Database, tmp_path: Path, name: str, says: str) -> None:
    one, two = identity(tmp_path, "c1"), identity(tmp_path, "c2")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        note(database, one, two, server=f"tls://127.0.0.1:{server.getsockname()[1]}")
        with ThreadPoolExecutor(1) as pool:
            greeting = pool.submit(greet_once, server) if name == "c2" else None
            with pytest.raises(OperationError, match=says):
                remove(database, one, name, now=time.time())
            if greeting is not None:
                greeting.result()
    with database.read() as connection:
        assert members(connection).keys() == {"c1", "c2"}


def greet_once(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.sendall(b"INFO {}\r\n")


def test_what_changes_among_brokers_is_said() -> None:
    assert change_of({"a", "b"}, {"a"}) == "the broker leaves the brokers of the controllers b"
    assert change_of({"a"}, {"a", "b"}) == "the broker joins the brokers of the controllers b"
    assert change_of({"a"}, {"a"}).endswith("that have moved")
