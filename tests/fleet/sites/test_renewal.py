"""Which certificate of a site counts: decisions alone; the rest is in `test_sites`."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.fleet.harness import run

from saltern.fleet.broker.authority import new_authority
from saltern.fleet.broker.site_broker import AGAIN, HOUR, pause_after
from saltern.fleet.broker.site_renewal import FILE, Pair, SiteRenewal, check_issued, newest
from saltern.fleet.broker.sites import Kit, make_kit
from saltern.fleet.broker.tls import CertificateFiles, new_pair, prepare_certificates, sign_key
from saltern.language.diagnostics import OperationError

DAY = 86_400.0
NOW = time.time()


def files(folder: Path) -> CertificateFiles:
    return prepare_certificates(str(folder / "tls"), ("127.0.0.1",), fleet="f", now=NOW)


def kit_of(tls: CertificateFiles, now: float) -> Kit:
    authority = new_authority("f")
    return make_kit(authority, tls, "east", ("127.0.0.1:1",), ("tls://127.0.0.1:2",), revoked={}, now=now)


def keep(folder: Path, certificate: str, key: str) -> None:
    (folder / FILE).write_bytes(msgspec.json.encode(Pair(certificate, key)))


def test_the_certificate_that_ends_last_counts(tmp_path: Path) -> None:
    tls = files(tmp_path)
    kit = kit_of(tls, NOW - 300 * DAY)
    assert newest(kit, str(tmp_path)) == kit
    later = new_pair(tls, ("127.0.0.1",), NOW)
    keep(tmp_path, *later)
    assert newest(kit, str(tmp_path)) == replace(kit, certificate=later[0], key=later[1])
    made_again = kit_of(tls, NOW + DAY)
    assert newest(made_again, str(tmp_path)) == made_again


@pytest.mark.parametrize("what", ["another CA", "another key", "garbage", "an empty file"])
def test_what_is_not_of_the_fleet_is_passed_over(tmp_path: Path, what: str) -> None:
    tls = files(tmp_path)
    kit = kit_of(tls, NOW - 300 * DAY)
    certificate, key = new_pair(tls, ("127.0.0.1",), NOW)
    if what == "another CA":
        keep(tmp_path, *new_pair(files(tmp_path / "other"), ("127.0.0.1",), NOW))
    elif what == "another key":
        keep(tmp_path, certificate, kit.key)
    else:
        (tmp_path / FILE).write_bytes(b"{" if what == "garbage" else b"")
    assert newest(kit, str(tmp_path)) == kit
    check_issued(Pair(certificate, key), kit.ca)


def test_a_kit_of_before_says_how_to_get_a_new_one_and_when_its_time_is_over(tmp_path: Path) -> None:
    kit = replace(kit_of(files(tmp_path), NOW - 300 * DAY), own="")
    with pytest.raises(OperationError, match="ends on 20") as raised:
        run(SiteRenewal(kit, str(tmp_path), lambda: NOW).step("tls://127.0.0.1:1"))
    assert "saltern site add east" in str(raised.value.diagnostics[0].fix)
    assert run(SiteRenewal(kit, str(tmp_path), lambda: NOW - 200 * DAY).step("")) is False


@pytest.mark.parametrize(
    "key", ["", "no key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"]
)
def test_what_is_no_key_is_not_certified(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError):
        sign_key(files(tmp_path), ("127.0.0.1",), key, NOW)


def test_a_certificate_that_could_not_be_had_is_asked_for_again_soon() -> None:
    """The link of a site that has just been started is not up yet, and an hour is long."""
    assert pause_after(0, HOUR) == HOUR
    pauses = [pause_after(failures, HOUR) for failures in range(1, 2000)]
    assert pauses[0] == AGAIN
    assert pauses == sorted(pauses)
    assert pauses[-1] == HOUR
