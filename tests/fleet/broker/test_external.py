"""A NATS that others run: used if it is fit, refused with what is missing if not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fleet.harness import NatsPlace, free_port, run

from saltern.fleet.broker.external import ExistingBroker
from saltern.fleet.protocol.streams import STREAMS
from saltern.language.diagnostics import OperationError


async def prepared(url: str) -> None:
    broker = ExistingBroker(url)
    bus = await broker.connect_controller("one")
    try:
        await broker.prepare(bus)
        for name in STREAMS:
            assert (await bus.stream_state(name)).messages == 0
        await broker.prepare(bus)
    finally:
        await bus.close()


def test_one_with_streams_is_used(tmp_path: Path) -> None:
    place = NatsPlace(tmp_path)
    place.start()
    try:
        run(prepared(place.url("one")))
        run(prepared(f"nats://127.0.0.1:{free_port()}, {place.url('one')}"))
    finally:
        place.close()


@pytest.mark.parametrize(
    ("extra", "without", "says"),
    [("", "jetstream", "no JetStream"), ("max_payload: 65536\n", "", "of up to 65536 bytes")],
)
def test_one_that_is_not_fit_is_refused_with_the_reason(
    tmp_path: Path, extra: str, without: str, says: str
) -> None:
    place = NatsPlace(tmp_path, extra)
    config = tmp_path / "nats.conf"
    if without:
        config.write_text("\n".join(line for line in config.read_text().splitlines() if without not in line))
    place.start()
    try:
        with pytest.raises(OperationError, match=says) as caught:
            run(prepared(place.url("one")))
        assert caught.value.diagnostics[0].code == "fleet-broker-unfit" and caught.value.diagnostics[0].fix
    finally:
        place.close()


def test_a_user_without_rights_is_refused(tmp_path: Path) -> None:
    place = NatsPlace(tmp_path)
    place.start()
    try:
        with pytest.raises(OperationError, match="fleet-broker-unfit"):
            run(prepared(place.url("limited")))
    finally:
        place.close()


def test_one_that_cannot_be_reached_is_named_without_its_password() -> None:
    port = free_port()
    with pytest.raises(OperationError) as caught:
        run(prepared(f"nats://user:hunter2@127.0.0.1:{port}"))
    assert str(port) in str(caught.value) and "hunter2" not in str(caught.value)


@pytest.mark.parametrize("url", ["", "http://x", "c1:4222", "nats://", "nats://:4222"])
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(OperationError, match="is not the URL"):
        ExistingBroker(url)
