"""Certificates: made once, renewed in time, never silently replaced."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from tests.fleet.harness import run
from tests.fleet.kit import running_fleet

from saltern.fleet.broker.authority import load_authority, load_or_make_authority
from saltern.fleet.broker.tls import CertificateFiles, ca_fingerprint, prepare_certificates
from saltern.fleet.bus.ports import NotConnected
from saltern.fleet.identity.membership import client_tls, joiner_credential
from saltern.language.diagnostics import OperationError

NOW = 1_800_000_000.0
DAY = 86_400.0


def prepare(
    folder: Path, now: float = NOW, names: tuple[str, ...] = ("c1.example.com", "10.0.0.1", "::1")
) -> CertificateFiles:
    return prepare_certificates(str(folder), names, fleet="f1", now=now)


def server(files: CertificateFiles) -> bytes:
    return Path(files.server).read_bytes()


def test_nothing_changes_while_nothing_has_to(tmp_path: Path) -> None:
    first = server(prepare(tmp_path))
    assert server(prepare(tmp_path, NOW + 30 * DAY)) == first


def test_the_certificate_is_renewed_in_its_last_third_and_the_ca_stays(tmp_path: Path) -> None:
    files = prepare(tmp_path)
    first, ca = server(files), ca_fingerprint(files)
    assert server(prepare(tmp_path, NOW + 270 * DAY)) != first
    assert ca_fingerprint(files) == ca


def test_other_names_make_another_certificate(tmp_path: Path) -> None:
    first = server(prepare(tmp_path))
    assert server(prepare(tmp_path, names=("c1.example.com", "c2.example.com"))) != first


@pytest.mark.parametrize("name", ["ca.pem", "ca.key"])
def test_a_damaged_ca_is_an_error_and_not_replaced(tmp_path: Path, name: str) -> None:
    prepare(tmp_path)
    (tmp_path / name).write_bytes(b"garbage")
    with pytest.raises(OperationError, match="fleet-certificate-damaged"):
        prepare(tmp_path, names=("other",))
    assert (tmp_path / name).read_bytes() == b"garbage"


def test_a_key_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    prepare(tmp_path)
    (tmp_path / "ca.key").chmod(0o644)
    with pytest.raises(OperationError, match="fleet-keys-exposed"):
        prepare(tmp_path, names=("other",))


def test_the_authority_is_made_once_and_its_damage_is_an_error(tmp_path: Path) -> None:
    made = load_or_make_authority(str(tmp_path / "keys"), "f1")
    again = load_or_make_authority(str(tmp_path / "keys"), "other")
    assert (again.fleet, again.account_name) == ("f1", made.account_name)
    file = tmp_path / "keys" / "authority.json"
    for damage in (b"", b"{}", file.read_bytes().replace(b'"account"', b'"acc"'), b"[1]"):
        file.write_bytes(damage)
        with pytest.raises(OperationError, match="fleet-authority-damaged"):
            load_authority(str(tmp_path / "keys"))


@pytest.mark.slow
def test_the_broker_speaks_no_tls_older_than_1_3_and_nothing_in_the_clear(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_fleet(tmp_path) as fleet:
            name, credential = joiner_credential(fleet.token())
            old = client_tls(fleet.broker.ca)
            old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_2
            for tls in (old, None):
                with pytest.raises(NotConnected):
                    await fleet.connect(name, credential, tls=tls)
            bus = await fleet.connect(name, credential)
            await bus.close()

    run(scenario())
