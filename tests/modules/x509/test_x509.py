"""``x509``: real keys and certificates, judged by ``openssl`` where it is there."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from saltern.language.result import Result
from saltern.modules.functions.x509 import create, pem, query, read, verify
from saltern.modules.lib.x509 import library
from saltern.modules.states.x509.certificates import certificate_managed
from saltern.modules.states.x509.keys import private_key_managed
from saltern.modules.states.x509.pems import pem_managed
from saltern.modules.states.x509.requests import csr_managed

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

try:
    import cryptography  # type: ignore[import-not-found,unused-ignore]  # noqa: F401

    HERE = True
except ImportError:
    HERE = False
needs_library = pytest.mark.skipif(not HERE, reason="needs cryptography")


def openssl(*words: str) -> str:
    if not shutil.which("openssl"):
        pytest.skip("needs openssl")
    found = subprocess.run(["openssl", *words], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.fixture
def key(desk: Desk) -> str:
    path = desk.at("www.key")
    desk.call(private_key_managed, path, algo="ec")
    return path


@pytest.fixture
def ca(desk: Desk) -> dict[str, object]:
    """Arguments that sign with an authority of our own."""
    desk.call(private_key_managed, desk.at("ca.key"), algo="ec")
    result = desk.call(
        certificate_managed,
        desk.at("ca.crt"),
        signing_private_key=desk.at("ca.key"),
        subject="CN=CA,O=saltern-t",
        basicConstraints="critical, CA:TRUE, pathlen:0",
        keyUsage="critical, keyCertSign, cRLSign",
        subjectKeyIdentifier="hash",
    )
    assert result.changes == {"created": desk.at("ca.crt")}, result.comment
    return {"signing_private_key": desk.at("ca.key"), "signing_cert": desk.at("ca.crt")}


@needs_library
@pytest.mark.parametrize(
    ("args", "algo", "size"),
    [
        ({}, "rsa", 2048),
        ({"algo": "ec", "keysize": 384}, "ec", 384),
        ({"algo": "ed25519"}, "ed25519", 256),
        ({"algo": "ed448", "encoding": "der"}, "ed448", 456),
    ],
)
def test_private_keys_of_all_kinds(desk: Desk, args: dict[str, object], algo: str, size: int) -> None:
    result = desk.change(private_key_managed, desk.at("k"), **args)
    assert result.changes == {"created": desk.at("k"), "mode": "0400"}
    assert (result.data["algo"], result.data["keysize"], desk.mode("k")) == (algo, size, 0o400)


@needs_library
def test_a_key_is_replaced_when_it_is_of_another_kind(desk: Desk, key: str) -> None:
    result = desk.change(private_key_managed, key, algo="ed25519")
    assert result.changes == {"algo": "ed25519"}
    result = desk.change(private_key_managed, key, algo="ed25519", mode="600", user=None)
    assert result.changes == {"mode": "0600"}
    before = desk.text("www.key")
    assert desk.call(private_key_managed, key, algo="ed25519", new=True).changes["replaced"] == key
    assert desk.text("www.key") != before


@needs_library
def test_a_passphrase_locks_the_key_and_is_never_told(desk: Desk) -> None:
    path = desk.at("k")
    results: list[Result] = [desk.change(private_key_managed, path, algo="ec", passphrase="geheim-1")]
    assert "ENCRYPTED" in desk.text("k")
    comment = desk.refusal(private_key_managed, path, algo="ec", passphrase="geheim-2")
    assert "overwrite" in comment
    results.append(desk.change(private_key_managed, path, algo="ec", passphrase="geheim-2", overwrite=True))
    assert results[-1].changes["passphrase"] is True
    assert "geheim" not in repr(results) + comment
    assert "PRIVATE KEY" not in repr(results)
    desk.put("junk", "no key")
    assert "not a private key" in desk.refusal(private_key_managed, desk.at("junk"))
    assert desk.change(private_key_managed, desk.at("junk"), algo="ec", overwrite=True).changes["replaced"]


@needs_library
def test_a_request_names_the_key_and_its_extensions(desk: Desk, key: str) -> None:
    args = {"private_key": key, "CN": "www.example.org", "O": "saltern-t", "C": "DE"}
    result = desk.change(csr_managed, desk.at("r.csr"), subjectAltName="DNS:www.example.org", **args)
    assert result.data["subject"] == "CN=www.example.org,O=saltern-t,C=DE"
    told = openssl("req", "-in", desk.at("r.csr"), "-noout", "-text", "-verify")
    assert "DNS:www.example.org" in told
    result = desk.change(
        csr_managed, desk.at("r.csr"), subjectAltName=["DNS:www.example.org", "IP:::1"], **args
    )
    assert result.changes == {"extensions": {"added": [], "changed": ["subjectAltName"], "removed": []}}
    result = desk.change(csr_managed, desk.at("r.csr"), private_key=key, subject={"CN": "other"})
    assert result.changes["subject_name"] == "CN=other"


@needs_library
def test_a_signing_policy_wins_over_the_arguments(desk: Desk, key: str, ca: dict[str, object]) -> None:
    fixed = [{"signing_cert": ca["signing_cert"]}, {"signing_private_key": ca["signing_private_key"]}]
    fixed += [{"days_valid": 30}, {"C": "DE"}, {"basicConstraints": "critical CA:FALSE"}]
    desk.pillar["x509_signing_policies"] = {"www": fixed}
    asked = {"private_key": key, "CN": "www.example.org", "C": "XX", "days_valid": 900}
    path = desk.at("www.crt")
    result = desk.change(certificate_managed, path, signing_policy="www", **asked)
    assert result.data["subject"] == "CN=www.example.org,C=DE"
    assert result.data["issuer"] == "CN=CA,O=saltern-t"
    assert "CA:FALSE" in openssl("x509", "-in", path, "-noout", "-text")
    left = datetime.fromisoformat(str(result.data["not_after"])) - datetime.fromisoformat(
        str(result.data["not_before"])
    )
    assert left.days == 30
    assert "no signing policy is called 'ftp'" in desk.refusal(
        certificate_managed, path, signing_policy="ftp", **asked
    )
    assert query.get_signing_policy(desk.context(), "ftp") == {}
    assert query.get_signing_policy(desk.context(), "www")["days_valid"] == 30


@needs_library
def test_a_certificate_is_signed_checked_and_renewed(desk: Desk, key: str, ca: dict[str, object]) -> None:
    path = desk.at("www.crt")
    args: dict[str, object] = {
        **ca,
        "private_key": key,
        "CN": "www.example.org",
        "subjectAltName": "DNS:www.example.org",
        "basicConstraints": {"critical": True, "ca": False},
        "extendedKeyUsage": "serverAuth, clientAuth",
        "authorityKeyIdentifier": "keyid:always",
        "keyUsage": ["critical", "digitalSignature"],
        "days_valid": 30,
        "append_certs": desk.at("ca.crt"),
    }
    result = desk.change(certificate_managed, path, **args)
    assert (result.data["subject"], result.data["issuer"]) == ("CN=www.example.org", "CN=CA,O=saltern-t")
    assert "OK" in openssl("verify", "-CAfile", desk.at("ca.crt"), path)
    result = desk.change(certificate_managed, path, **{**args, "keyUsage": "keyEncipherment"})
    assert result.changes == {"extensions": {"added": [], "changed": ["keyUsage"], "removed": []}}
    foreseen = desk.foresee(certificate_managed, path, **{**args, "days_remaining": 31})
    assert foreseen.changes["expiration"] is True
    desk.call(private_key_managed, desk.at("new.key"), algo="ec")
    result = desk.change(certificate_managed, path, **{**args, "private_key": desk.at("new.key")})
    assert result.changes["private_key"] is True
    assert verify.verify_private_key(desk.context(), desk.at("new.key"), path) is True


@needs_library
def test_another_authority_means_another_certificate(desk: Desk, key: str, ca: dict[str, object]) -> None:
    path = desk.at("www.crt")
    desk.change(certificate_managed, path, private_key=key, CN="x", **ca)
    desk.call(private_key_managed, desk.at("ca.key"), algo="ec", new=True)
    assert "do not belong together" in desk.refusal(certificate_managed, path, private_key=key, CN="x", **ca)
    desk.call(certificate_managed, desk.at("ca.crt"), signing_private_key=desk.at("ca.key"), CN="CA 2")
    result = desk.change(certificate_managed, path, private_key=key, CN="x", **ca)
    assert result.changes == {"signing_private_key": True, "issuer_name": "CN=CA 2"}


@needs_library
def test_a_request_becomes_a_certificate(desk: Desk, key: str, ca: dict[str, object]) -> None:
    desk.call(csr_managed, desk.at("r.csr"), private_key=key, CN="r", subjectAltName="IP:10.0.0.1")
    result = desk.change(certificate_managed, desk.at("c"), csr=desk.at("r.csr"), encoding="der", **ca)
    assert result.data["subject"] == "CN=r"
    told = openssl("x509", "-inform", "der", "-in", desk.at("c"), "-noout", "-text")
    assert "IP Address:10.0.0.1" in told


@needs_library
def test_pems_are_tidied_and_never_shown(desk: Desk, key: str) -> None:
    text = desk.text("www.key")
    flat = text.replace("\n", " ")
    result = desk.change(pem_managed, desk.at("copy.pem"), text=flat)
    assert desk.text("copy.pem") == text
    assert (desk.mode("copy.pem"), result.data["entries"]) == (0o600, ["private key"])
    assert text.splitlines()[1] not in repr(result)
    assert "no PEM entry" in desk.refusal(pem_managed, desk.at("n"), text="nothing")


@needs_library
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda desk, key: desk.refusal(private_key_managed, desk.at("n"), algo="dsa"), "no algo"),
        (lambda desk, key: desk.refusal(private_key_managed, desk.at("n"), keysize=512), "keysize"),
        (lambda desk, key: desk.refusal(private_key_managed, desk.at("n"), encoding="pkcs7_pem"), "encoding"),
        (lambda desk, key: desk.refusal(private_key_managed, desk.at("n"), mode="rw"), "octal"),
        (lambda desk, key: desk.refusal(csr_managed, desk.at("n"), private_key="/none"), "does not exist"),
        (lambda desk, key: desk.refusal(csr_managed, desk.at("n"), private_key=key, Cn="x"), "did you mean"),
        (lambda desk, key: desk.refusal(csr_managed, desk.at("n"), private_key=key, C="Germany"), "C cannot"),
        (lambda desk, key: desk.refusal(csr_managed, desk.at("n"), private_key=key, digest="md5"), "digest"),
        (
            lambda desk, key: desk.refusal(csr_managed, desk.at("n"), private_key=key, keyUsage="x"),
            "no keyUsage",
        ),
        (
            lambda desk, key: desk.refusal(csr_managed, desk.at("n"), private_key=key, subjectAltName="www"),
            "no kind of name",
        ),
        (lambda desk, key: desk.refusal(certificate_managed, desk.at("n"), CN="x"), "signing_private_key"),
        (
            lambda desk, key: desk.refusal(certificate_managed, desk.at("n"), ca_server="x"),
            "not supported",
        ),
        (
            lambda desk, key: desk.refusal(
                certificate_managed, desk.at("n"), signing_private_key=key, CN="x", not_after="soon"
            ),
            "2026",
        ),
    ],
)
def test_bad_input_is_reported_plainly(
    desk: Desk, key: str, call: Callable[[Desk, str], str], words: str
) -> None:
    assert words in call(desk, key)


@needs_library
def test_functions_tell_of_keys_and_certificates(desk: Desk, key: str, ca: dict[str, object]) -> None:
    ctx = desk.context()
    assert read.read_certificate(ctx, desk.at("ca.crt"))["subject_str"] == "CN=CA,O=saltern-t"
    assert query.expires(ctx, desk.at("ca.crt")) is False
    assert query.will_expire(ctx, desk.at("ca.crt"), 1000)["will_expire"] is True
    assert query.get_private_key_size(ctx, key) == 256
    assert verify.verify_private_key(ctx, key, desk.at("ca.crt")) is False
    assert "BEGIN PRIVATE KEY" in create.create_private_key(ctx, algo="ed25519")
    assert pem.get_pem_entry(ctx, desk.text("ca.crt")).startswith("-----BEGIN CERTIFICATE")
    assert pem.get_pem_entry(ctx, desk.at("ca.crt")) == pem.get_pem_entry(ctx, desk.text("ca.crt"))


def test_without_the_library_the_words_say_what_to_install(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "PARTS", dict.fromkeys(library.PARTS, "cryptography_that_is_not_there"))
    comment = desk.refusal(private_key_managed, desk.at("k"))
    assert "install saltern[x509]" in comment
    assert desk.names() == []


@needs_library
def test_a_key_that_is_made_in_the_same_run_is_no_failure_in_test_mode(desk: Desk) -> None:
    foreseen = desk.foresee(csr_managed, desk.at("r.csr"), private_key=desk.at("k"), CN="x")
    assert foreseen.changes == {"created": desk.at("r.csr")}
    desk.call(private_key_managed, desk.at("k"), algo="ec")
    assert (
        desk.call(csr_managed, desk.at("r.csr"), private_key=desk.at("k"), CN="x").changes == foreseen.changes
    )


@needs_library
def test_arguments_of_files_that_do_nothing_here_are_no_unknown_words(
    desk: Desk, key: str, ca: dict[str, object]
) -> None:
    given: dict[str, object] = {"attrs": "i", "selinux": {}, "win_owner": "x", "file_encoding": "utf-8"}
    assert desk.call(csr_managed, desk.at("a.csr"), private_key=key, CN="a", **given).changes
    assert desk.call(certificate_managed, desk.at("a.crt"), private_key=key, CN="a", **given, **ca).changes
