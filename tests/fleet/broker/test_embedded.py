"""The broker as a child process: what it survives, and what it refuses."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import stat
import time
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fleet.controller.kit import Clock
from tests.fleet.harness import SERVER, free_port, run, until
from tests.fleet.kit import FLEET, running_fleet

from saltern.fleet.broker import tls
from saltern.fleet.broker.binary import find_binary
from saltern.fleet.broker.config import BrokerSettings
from saltern.fleet.broker.embedded import EmbeddedBroker
from saltern.fleet.broker.renew_tls import renew_tls
from saltern.fleet.broker.sites import Sites, write_sites
from saltern.fleet.broker.system import BrokerSystem
from saltern.fleet.broker.tls import ca_der, prepare_certificates
from saltern.fleet.bus.ports import Bus, BusError, Change, Message, NotConnected, State
from saltern.fleet.identity.membership import client_tls, joiner_credential
from saltern.fleet.identity.revocation import revoke
from saltern.fleet.protocol.streams import STREAMS
from saltern.language.diagnostics import OperationError


def broker(folder: Path, **more: object) -> EmbeddedBroker:
    settings = BrokerSettings(port=more.pop("port", free_port()))  # type: ignore[arg-type]
    return EmbeddedBroker(str(folder), FLEET, settings, **more)  # type: ignore[arg-type]


def test_it_starts_well_and_safe_with_all_streams_and_ends_with_us(tmp_path: Path) -> None:
    async def scenario() -> int:
        made = broker(tmp_path)
        vitals = await made.start()
        assert vitals.jetstream.config.sync_always and vitals.max_payload == 1 << 20
        assert await BrokerSystem(made.system_bus).health() == ""
        bus = await made.connect_controller("c1")
        for name in STREAMS:
            assert (await bus.stream_state(name)).messages == 0
        pid = made.pid
        await bus.close()
        await made.stop()
        return pid

    pid = run(scenario())
    assert not Path(f"/proc/{pid}").exists()


def test_a_connection_that_ends_is_not_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        made = broker(tmp_path)
        await made.start()
        bus = await made.connect_controller("c1")
        changes: list[Change] = []
        bus.watch(changes.append)
        os.kill(made.pid, signal.SIGKILL)
        await until(lambda: any(one.state is State.CONNECTED for one in changes), timeout=50)
        await bus.close()
        await made.stop()

    run(scenario())
    assert not [one.getMessage() for one in caplog.records if one.name == "asyncio"]


def test_every_private_file_is_its_owners_alone(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = broker(tmp_path / "broker")
        await made.start()
        await made.set_revoked(revoke({}, b"x" * 32, time.time()))
        await made.stop()

    run(scenario())
    private = {"authority.json", "ca.key", "server.key", "broker.conf", "revoked.json"}
    found = {file.name: file for file in (tmp_path / "broker").rglob("*") if file.name in private}
    assert found.keys() == private
    assert {stat.S_IMODE(file.stat().st_mode) for file in found.values()} == {0o600}
    assert stat.S_IMODE((tmp_path / "broker").stat().st_mode) == 0o700


def test_a_second_start_uses_the_same_keys_and_finds_what_was_stored(tmp_path: Path) -> None:
    async def scenario() -> None:
        port = free_port()
        first = broker(tmp_path, port=port)
        await first.start()
        bus = await first.connect_controller("c1")
        await bus.store("dn.web1.job", b"kept")
        await bus.close()
        await first.stop()
        second = broker(tmp_path, port=port)
        await second.start()
        assert second.ca == first.ca
        assert second.authority.account_name == first.authority.account_name
        bus = await second.connect_controller("c1")
        assert (await bus.stream_state("JOBS")).messages == 1
        await bus.close()
        await second.stop()

    run(scenario())


def test_a_crash_is_noticed_and_the_broker_comes_back_with_all_that_was_acknowledged(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            agent = await fleet.agent("web1")
            heard: list[bytes] = []

            async def on_job(message: Message) -> None:
                heard.append(message.data)

            await agent.bus.subscribe("dn.web1.job", on_job)
            for number in range(50):
                await fleet.bus.store("dn.web1.job", b"%d" % number, id=str(number))
            os.kill(fleet.broker.pid, signal.SIGKILL)
            await until(lambda: fleet.crashes)
            await until(lambda: fleet.bus.connected and agent.bus.connected)
            while (await _messages(fleet.bus)) is None:
                await asyncio.sleep(0.05)
            assert await _messages(fleet.bus) == 50
            assert (await fleet.bus.store("dn.web1.job", b"0", id="0")).duplicate
            await fleet.bus.publish("dn.web1.job", b"live")
            await until(lambda: b"live" in heard)
            await agent.bus.close()

    run(scenario())


async def _messages(bus: Bus) -> int | None:
    try:
        return (await bus.stream_state("JOBS")).messages
    except BusError:
        return None


def test_a_lost_data_directory_is_made_again_and_agents_stay_members(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            agent = await fleet.agent("web1")
            await fleet.bus.store("dn.web1.job", b"lost")
            shutil.rmtree(tmp_path / "streams")
            shutil.rmtree(tmp_path / "accounts")
            os.kill(fleet.broker.pid, signal.SIGKILL)
            await until(lambda: fleet.crashes)
            while (await _messages(fleet.bus)) is None:
                await asyncio.sleep(0.05)
            assert await _messages(fleet.bus) == 0
            await until(lambda: agent.bus.connected)
            assert (await agent.bus.store("up.web1.ret.j", b"again", id="x")).sequence == 1
            await agent.bus.close()

    run(scenario())


def test_a_broker_that_a_dead_controller_left_is_taken_over(tmp_path: Path) -> None:
    async def scenario() -> None:
        port = free_port()
        first = broker(tmp_path, port=port)
        await first.start()
        pid = first.pid
        await first.leave_running()
        assert Path(f"/proc/{pid}").exists()
        second = broker(tmp_path, port=port)
        await second.start()
        assert second.pid == pid
        bus = await second.connect_controller("c1")
        assert (await bus.stream_state("JOBS")).messages == 0
        await bus.close()
        await second.stop()
        await until(lambda: not _lives(pid))

    run(scenario())


def _lives(pid: int) -> bool:
    try:
        return b"nats-server" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_a_process_that_only_has_the_old_number_is_left_alone(tmp_path: Path) -> None:
    async def scenario() -> None:
        (tmp_path / "broker.pid").write_text(str(os.getpid()))
        made = broker(tmp_path)
        await made.start()
        assert made.pid != os.getpid()
        await made.stop()

    run(scenario())


def test_a_port_that_is_taken_is_an_error_that_names_it(tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        async def scenario() -> None:
            await broker(tmp_path, port=port).start()

        with pytest.raises(OperationError, match=rf"(?s)fleet-broker-failed|{port}"):
            run(scenario())


def test_a_gentle_stop_sends_clients_away_first(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            changes: list[Change] = []
            fleet.bus.watch(changes.append)
            pid = fleet.broker.pid
            await fleet.broker.stop(gently=True)
            assert not _lives(pid)
            await until(lambda: any(change.state is State.LOST for change in changes))

    run(scenario(), timeout=100)


def test_another_server_program_takes_over_the_data(tmp_path: Path) -> None:
    async def scenario() -> None:
        other = tmp_path / "nats-server-new"
        shutil.copy(SERVER, other)
        async with running_fleet(tmp_path / "broker") as fleet:
            await fleet.bus.store("dn.web1.job", b"kept")
            old = fleet.broker.pid
            vitals = await fleet.broker.upgrade(str(other))
            assert vitals.version and fleet.broker.pid != old
            assert os.readlink(f"/proc/{fleet.broker.pid}/exe") == str(other)
            await until(lambda: fleet.bus.connected)
            assert await _messages(fleet.bus) == 1
            assert fleet.crashes == []
            os.kill(fleet.broker.pid, signal.SIGKILL)  # and it is watched like the old one
            await until(lambda: fleet.crashes)
            await until(lambda: fleet.bus.connected)

    run(scenario(), timeout=150)


def test_a_server_program_that_does_not_work_is_taken_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        broken = tmp_path / "broken"
        broken.write_text(
            '#!/bin/sh\n[ "$1" = --version ] && echo nats-server: v2.15.9 && exit\necho no >&2; exit 1\n'
        )
        broken.chmod(0o755)
        async with running_fleet(tmp_path / "broker") as fleet:
            await fleet.bus.store("dn.web1.job", b"kept")
            with pytest.raises(OperationError, match="was started again"):
                await fleet.broker.upgrade(str(broken))
            await until(lambda: fleet.bus.connected)
            assert await _messages(fleet.bus) == 1

    run(scenario(), timeout=150)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("nats-server: v2.14.9", "fleet-broker-version"),
        ("nats-server: v2.16.0", "fleet-broker-version"),
        ("hello", "fleet-broker-missing"),
    ],
)
def test_a_version_that_is_not_known_is_refused(tmp_path: Path, said: str, code: str) -> None:
    program = tmp_path / "nats-server"
    program.write_text(f"#!/bin/sh\necho {said!r}\n")
    program.chmod(0o755)
    with pytest.raises(OperationError) as caught:
        find_binary(str(program))
    assert caught.value.diagnostics[0].code == code
    if "version" in code:
        assert find_binary(str(program), any_version=True).version_text in said


def test_a_program_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match="fleet-broker-missing"):
        find_binary(str(tmp_path / "nothing"))


def test_a_broker_that_acknowledges_before_it_syncs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = EmbeddedBroker.config
    unsafe = 'sync_interval: "2m"'
    monkeypatch.setattr(
        EmbeddedBroker, "config", lambda self: real(self).replace("sync_interval: always", unsafe)
    )

    async def scenario() -> None:
        await broker(tmp_path).start()

    with pytest.raises(OperationError, match="fleet-broker-unsafe"):
        run(scenario())
    assert _servers(tmp_path) == []


def _servers(folder: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if os.fsencode(folder) in words and b"nats-server" in words.split(b"\0")[0]:
                found.append(int(entry.name))
    return found


def test_a_client_that_trusts_another_ca_does_not_connect(tmp_path: Path) -> None:
    async def scenario() -> None:
        other = prepare_certificates(str(tmp_path / "other"), ("localhost",), fleet="x", now=time.time())
        async with running_fleet(tmp_path / "broker") as fleet:
            name, credential = joiner_credential(fleet.token())
            for tls in (client_tls(ca_der(other)), client_tls(b"")):
                with pytest.raises(NotConnected, match=r"(?i)certificate"):
                    await fleet.connect(name, credential, tls=tls)
            with pytest.raises(NotConnected, match=r"(?i)hostname|certificate"):
                await fleet.connect(name, credential, server_name="evil.example.com")

    run(scenario())


def test_a_certificate_that_ends_soon_is_renewed_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "SERVER_LIFE", timedelta(hours=1))  # in its last third from the beginning
    clock = Clock()

    async def scenario() -> None:
        made = broker(tmp_path, now=clock)
        await made.start()
        bus = await made.connect_controller("c1")
        changes: list[Change] = []
        bus.watch(changes.append)
        before, pid = await shown(made), made.pid
        clock.ahead = 30.0
        assert renew_tls(made, clock())
        while await shown(made) == before:
            await asyncio.sleep(0.02)
        await bus.publish("dn._all.job", b"over the old connection")
        assert (changes, made.pid) == ([], pid)
        later = await made.connect_controller("c2")  # over a new one, with the same CA
        for one in (later, bus):
            await one.close()
        await made.stop()

    run(scenario())


async def shown(made: EmbeddedBroker) -> bytes:
    """The certificate that the broker shows to a new client."""
    context = client_tls(made.ca)
    reader, writer = await asyncio.open_connection("127.0.0.1", made.settings.port)
    try:
        assert (await reader.readline()).startswith(b"INFO")
        await writer.start_tls(context, server_hostname="127.0.0.1")
        return bytes(writer.get_extra_info("ssl_object").getpeercert(binary_form=True))
    finally:
        writer.close()


def test_a_site_that_is_added_while_it_runs_can_link_itself(tmp_path: Path) -> None:
    async def scenario() -> None:
        made, port = broker(tmp_path), free_port()
        await made.start()
        write_sites(str(tmp_path), Sites(port=port))
        assert (made.sites_port, made.pid) == (0, made.pid)
        await made.restart()
        assert made.sites_port == port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert (await reader.readline()).startswith(b"INFO")
        writer.close()
        await made.stop()

    run(scenario())


def test_a_broker_that_was_left_running_with_other_links_is_not_taken_over(tmp_path: Path) -> None:
    async def scenario() -> None:
        port = free_port()
        made = broker(tmp_path, port=port)
        await made.start()
        pid = made.pid
        await made.leave_running()
        same = broker(tmp_path, port=port)
        await same.start()
        assert same.pid == pid
        await same.leave_running()
        write_sites(str(tmp_path), Sites(port=free_port()))
        other = broker(tmp_path, port=port)
        await other.start()
        assert other.pid != pid
        await other.stop()

    run(scenario())
