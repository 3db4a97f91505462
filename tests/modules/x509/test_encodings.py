"""``x509``: what only has another form keeps its key, its serial number and its signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saltern.modules.functions.x509 import query, read
from saltern.modules.lib.x509.encode import CERTIFICATE_ENCODINGS, KEY_ENCODINGS
from saltern.modules.states.x509.certificates import certificate_managed
from saltern.modules.states.x509.keys import private_key_managed
from saltern.modules.states.x509.requests import csr_managed
from saltern.modules.states.x509.revocations import crl_managed

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

pytest.importorskip("cryptography")
SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def public_key(desk: Desk, name: str, passphrase: str | None) -> str:
    return query.get_public_key(desk.context(), desk.at(name), passphrase)


@SLOW
@given(
    st.lists(st.tuples(st.sampled_from(KEY_ENCODINGS), st.sampled_from([None, "geheim"])), max_size=4),
    st.sampled_from(["ec", "ed25519"]),
)
def test_a_key_stays_itself_in_every_encoding_and_with_a_first_passphrase(
    desk: Desk, steps: list[tuple[str, str | None]], algo: str
) -> None:
    path = desk.at("k")
    desk.call(private_key_managed, path, algo=algo, new=True)
    before, locked = public_key(desk, "k", None), False
    for encoding, passphrase in steps:
        wanted = "geheim" if locked else passphrase  # a passphrase is not taken away without overwrite
        desk.call(private_key_managed, path, algo=algo, encoding=encoding, passphrase=wanted)
        locked = wanted is not None
        assert public_key(desk, "k", wanted) == before
        assert not desk.call(
            private_key_managed, path, algo=algo, encoding=encoding, passphrase=wanted
        ).changes


def test_what_changed_is_named_as_salt_names_it(desk: Desk) -> None:
    path = desk.at("k")
    desk.call(private_key_managed, path, algo="ec")
    assert desk.change(private_key_managed, path, algo="ec", encoding="der").changes == {"encoding": "der"}
    locked = desk.change(private_key_managed, path, algo="ec", encoding="der", passphrase="p")
    assert locked.changes == {"passphrase": True}
    assert locked.comment == "The private key has been encoded again; it stays the same"
    bigger = {"algo": "ec", "keysize": 384, "encoding": "der", "passphrase": "p"}
    assert desk.change(private_key_managed, path, **bigger).changes == {"keysize": 384}
    assert "another passphrase" in desk.refusal(private_key_managed, path, algo="ec", encoding="der")


@pytest.fixture
def ca(desk: Desk) -> dict[str, object]:
    desk.call(private_key_managed, desk.at("ca.key"), algo="ec")
    desk.call(certificate_managed, desk.at("ca.crt"), signing_private_key=desk.at("ca.key"), CN="CA")
    desk.call(private_key_managed, desk.at("www.key"), algo="ec")
    return {"signing_private_key": desk.at("ca.key"), "signing_cert": desk.at("ca.crt")}


@SLOW
@given(st.lists(st.tuples(st.sampled_from(CERTIFICATE_ENCODINGS), st.booleans()), min_size=1, max_size=4))
def test_a_certificate_is_not_issued_anew_for_its_encoding_or_what_is_beside_it(
    desk: Desk, steps: list[tuple[str, bool]]
) -> None:
    desk.call(private_key_managed, desk.at("k"), algo="ec")
    issue: dict[str, object] = {"signing_private_key": desk.at("k"), "CN": "a"}
    first = desk.call(certificate_managed, desk.at("c"), **issue)
    for encoding, chain in steps:
        more = {
            "encoding": encoding,
            "append_certs": [desk.text("c0")] if chain and encoding != "der" else [],
        }
        result = desk.call(certificate_managed, desk.at("c"), **issue, **more)
        assert result.data["sha256"] == first.data["sha256"]
        assert set(result.changes) <= {"encoding", "additional_certs", "mode"}
        assert not desk.call(certificate_managed, desk.at("c"), **issue, **more).changes


@pytest.fixture(autouse=True)
def another_certificate(desk: Desk) -> None:
    desk.call(private_key_managed, desk.at("k0"), algo="ec")
    desk.call(certificate_managed, desk.at("c0"), signing_private_key=desk.at("k0"), CN="other")


def test_pkcs12_has_its_name_and_a_first_passphrase(desk: Desk, ca: dict[str, object]) -> None:
    path, args = (
        desk.at("www.p12"),
        {**ca, "private_key": desk.at("www.key"), "CN": "w", "encoding": "pkcs12"},
    )
    first = desk.change(certificate_managed, path, **args)
    assert desk.mode("www.p12") == 0o600  # it holds the private key
    named = desk.change(certificate_managed, path, **args, pkcs12_friendlyname="www")
    assert named.changes == {"pkcs12_friendlyname": "www"}
    locked = desk.change(
        certificate_managed, path, **args, pkcs12_friendlyname="www", pkcs12_passphrase="geheim"
    )
    assert (locked.changes, locked.data["sha256"]) == ({"pkcs12_passphrase": True}, first.data["sha256"])
    assert query.get_public_key(desk.context(), path, "geheim") == public_key(desk, "www.key", None)
    assert "geheim" not in repr([first, named, locked])


def test_requests_and_lists_are_encoded_again(desk: Desk, ca: dict[str, object]) -> None:
    request: dict[str, object] = {"private_key": desk.at("www.key"), "CN": "w"}
    desk.change(csr_managed, desk.at("r"), **request)
    assert desk.change(csr_managed, desk.at("r"), **request, encoding="der").changes == {"encoding": "der"}
    revoke: dict[str, object] = {**ca, "revoked": [{"serial_number": "01:AF"}], "days_valid": 20}
    made = desk.change(crl_managed, desk.at("l"), **revoke, extensions={"cRLNumber": "auto"})
    again = desk.change(crl_managed, desk.at("l"), **revoke, extensions={"cRLNumber": "auto"}, encoding="der")
    assert (made.data["number"], again.data["number"], again.changes) == (1, 1, {"encoding": "der"})
    assert list(read.read_crl(desk.context(), desk.at("l"))["revoked_certificates"]) == ["01AF"]  # type: ignore[call-overload]
