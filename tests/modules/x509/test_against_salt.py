"""``x509``: what is read and made here, held against Salt's own library where it is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from saltern.modules.functions.x509 import create, read
from saltern.modules.states.x509.certificates import certificate_managed
from saltern.modules.states.x509.keys import private_key_managed

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

pytest.importorskip("cryptography")
SALT = Path(__file__).parents[3] / "build" / "salt"
pytestmark = pytest.mark.skipif(not (SALT / "salt").is_dir(), reason="needs Salt; make salt installs it")

# Salt reads what was made here, and makes the same extensions from the same words.
PROGRAM = """
import json, sys
import salt.modules.x509_v2 as x509, salt.utils.x509 as util
x509.__opts__ = {"fips_mode": False}
asked = json.load(sys.stdin)
out = {"read": {}, "made": {}}
for kind, path in asked["read"]:
    out["read"][path] = getattr(x509, "read_" + kind)(path)
key = util.load_privkey(asked["key"])
ca = util.load_cert(asked["ca"])
for number, (name, value) in enumerate(asked["make"]):
    try:
        ext, critical = util._create_extension(
            name, value, subject_pubkey=key.public_key(), ca_crt=ca, ca_pub=ca.public_key())
        out["made"][number] = [ext.public_bytes().hex(), critical]
    except Exception as problem:
        out["made"][number] = None
json.dump(out, sys.stdout, default=str)
"""

EXTENSIONS: list[tuple[str, object]] = [
    ("basicConstraints", "critical, CA:TRUE, pathlen:1"),
    ("basicConstraints", "critical CA:false"),
    ("basicConstraints", {"ca": True, "pathlen": 0, "critical": True}),
    ("basicConstraints", "pathlen:1"),
    ("basicConstraints", "CA:FALSE, pathlen:3"),
    ("keyUsage", "critical, cRLSign, keyCertSign"),
    ("keyUsage", "critical keyEncipherment"),
    ("keyUsage", ["digitalSignature", "keyAgreement", "encipherOnly"]),
    ("keyUsage", ["critical", "nonRepudiation"]),
    ("keyUsage", "decipherOnly"),
    ("extendedKeyUsage", "serverAuth, clientAuth"),
    ("extendedKeyUsage", "critical,OCSPSigning,msSmartcardLogin,1.2.3.4"),
    ("extendedKeyUsage", ["codeSigning", "critical"]),
    ("extendedKeyUsage", "noSuchThing"),
    ("subjectKeyIdentifier", "hash"),
    ("subjectKeyIdentifier", "DE:AD:BE:EF"),
    ("subjectKeyIdentifier", "critical, hash"),
    ("authorityKeyIdentifier", "keyid:always"),
    ("authorityKeyIdentifier", "keyid,issuer"),
    ("authorityKeyIdentifier", "keyid:always,issuer:always"),
    ("authorityKeyIdentifier", {"issuer": "always"}),
    ("authorityKeyIdentifier", "critical, keyid"),
    ("issuerAltName", "DNS:salt.ca"),
    ("issuerAltName", ["DNS:salt.ca", {"email": "ca@salt.ca"}]),
    ("certificateIssuer", "DNS:example.org"),
    ("authorityInfoAccess", "OCSP;URI:http://ocsp.salt.ca/"),
    ("authorityInfoAccess", {"OCSP": "URI:http://a/", "caIssuers": "URI:http://b/"}),
    ("authorityInfoAccess", [{"OCSP": "URI:http://a/"}, {"1.2.3.4": "DNS:b.org"}]),
    ("authorityInfoAccess", "nothing;URI:http://a/"),
    ("subjectAltName", "DNS:sub.salt.ca,email:sub@salt.ca"),
    ("subjectAltName", ["IP:192.0.2.1", "IP:2001:db8::1", "URI:https://example.org/x", "RID:1.2.3"]),
    ("subjectAltName", ["critical", "DNS:*.example.org", {"dirName": "CN=a,O=b"}]),
    ("subjectAltName", [{"dirName": {"CN": "a", "O": "b"}}]),
    ("subjectAltName", "DNS:bücher.example"),
    ("subjectAltName", "DNS:faß.example"),
    ("subjectAltName", "DNS:a..b"),
    ("subjectAltName", "DNS:"),
    ("subjectAltName", "IP:300.0.0.1"),
    ("subjectAltName", "otherName:1.2;UTF8:x"),
    ("crlDistributionPoints", "URI:http://salt.ca/myca.crl"),
    ("crlDistributionPoints", ["URI:http://a/", "URI:http://b/"]),
    (
        "crlDistributionPoints",
        [{"fullname": "URI:http://a/", "crlissuer": "DNS:x.org", "reasons": ["keyCompromise"]}],
    ),
    ("crlDistributionPoints", [{"relativename": "CN=a"}]),
    ("crlDistributionPoints", [{"relativename": "CN=a,O=b"}]),
    ("freshestCRL", "URI:http://salt.ca/delta.crl"),
    ("issuingDistributionPoint", {"critical": True, "fullname": ["URI:http://salt.ca/myca.crl"]}),
    ("issuingDistributionPoint", {"onlyuser": True, "fullname": "URI:http://a/"}),
    ("issuingDistributionPoint", {"onlysomereasons": ["keyCompromise"], "relativename": "CN=a"}),
    ("issuingDistributionPoint", {"onlyuser": True, "onlyCA": True}),
    ("issuingDistributionPoint", "URI:http://a/"),
    ("certificatePolicies", "1.2.4.5"),
    ("certificatePolicies", "critical, 1.2.4.5, 1.2.3"),
    ("certificatePolicies", {"1.2.4.5": ["https://example.org/cps"], "critical": True}),
    (
        "certificatePolicies",
        {"1.2.4.5": [{"organization": "Org", "noticeNumbers": [1, 2], "text": "Mind this"}]},
    ),
    ("certificatePolicies", "some policy"),
    ("policyConstraints", "requireExplicitPolicy:3"),
    ("policyConstraints", {"inhibitPolicyMapping": 1, "critical": True}),
    ("policyConstraints", "critical,requireExplicitPolicy:3,inhibitPolicyMapping:1"),
    ("inhibitAnyPolicy", 2),
    ("inhibitAnyPolicy", "critical, 2"),
    ("inhibitAnyPolicy", {"value": 3, "critical": True}),
    ("inhibitAnyPolicy", "many"),
    ("nameConstraints", "permitted;IP:192.168.0.0/255.255.0.0,excluded;email:.com"),
    ("nameConstraints", {"critical": True, "permitted": ["DNS:.example.org"], "excluded": ["IP:10.0.0.0/8"]}),
    ("nameConstraints", {"permitted": []}),
    ("noCheck", True),
    ("noCheck", "critical"),
    ("tlsfeature", "status_request"),
    ("tlsfeature", ["critical", "status_request_v2"]),
    ("tlsfeature", "telepathy"),
    ("nsComment", "x"),
    ("cRLNumber", 7),
    ("cRLNumber", "critical, 7"),
    ("deltaCRLIndicator", "critical, 7"),
    ("deltaCRLIndicator", 7),
    ("CRLReason", "keyCompromise"),
    ("CRLReason", "critical, superseded"),
    ("CRLReason", "boredom"),
    ("invalidityDate", "2022-11-18 13:37:00"),
    ("invalidityDate", "critical 2022-11-18 13:37:00"),
    ("invalidityDate", "yesterday"),
]


def salts_answers(asked: dict[str, object]) -> dict[str, dict[str, object]]:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(SALT), "PATH": "/usr/bin:/bin"},
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, dict[str, object]] = json.loads(ran.stdout)
    return found


@pytest.fixture
def authority(desk: Desk) -> tuple[str, str]:
    desk.call(private_key_managed, desk.at("ca.key"), algo="ec")
    desk.call(
        certificate_managed,
        desk.at("ca.crt"),
        signing_private_key=desk.at("ca.key"),
        CN="CA",
        O="Example",
        subjectKeyIdentifier="hash",
        subjectAltName="DNS:ca.example.org",
    )
    return desk.at("ca.key"), desk.at("ca.crt")


def ours(name: str, value: object, key: str, crt: str) -> list[object] | None:
    from saltern.modules.api.refused import Refused
    from saltern.modules.lib.x509 import extensions as table
    from saltern.modules.lib.x509.load import load_certificate, load_key

    ca, own = (
        load_certificate(Path(crt).read_bytes(), "crt"),
        load_key(Path(key).read_bytes(), None, "key").public_key(),
    )
    every = {**table.CERTIFICATE, **table.REVOCATION_LIST, **table.ENTRY}
    try:
        made = table.extensions({name: value}, every, public_key=own, signer=ca, signer_key=ca.public_key())
    except Refused:
        return None
    critical, found = made[name]
    return [found.public_bytes().hex(), critical]


def test_every_extension_is_the_one_that_salt_makes(desk: Desk, authority: tuple[str, str]) -> None:
    key, crt = authority
    theirs = salts_answers({"read": [], "key": key, "ca": crt, "make": EXTENSIONS})["made"]
    different = {
        f"{number}: {name}={value!r}": (ours(name, value, key, crt), theirs[str(number)])
        for number, (name, value) in enumerate(EXTENSIONS)
        if ours(name, value, key, crt) != theirs[str(number)]
    }
    assert different == {}


def test_the_names_of_who_signs_can_be_copied(authority: tuple[str, str]) -> None:
    copied, named = ours("issuerAltName", "issuer:copy", *authority), "DNS:ca.example.org"
    assert copied == ours("issuerAltName", named, *authority)


def test_what_is_read_has_the_shape_that_salt_gives_it(desk: Desk, authority: tuple[str, str]) -> None:
    key, crt = authority
    ctx = desk.context()
    last: dict[str, object] = {}
    for name, value in EXTENSIONS:  # the last good form of each
        if ours(name, value, key, crt) is not None:
            last[name] = value
    crl_words = ("cRLNumber", "issuingDistributionPoint", "freshestCRL", "deltaCRLIndicator")
    entry_words = ("CRLReason", "invalidityDate", "certificateIssuer")
    plain: dict[str, Any] = {
        word: value for word, value in last.items() if word not in crl_words + entry_words
    }
    create.create_certificate(
        ctx, signing_private_key=key, signing_cert=crt, private_key=key, CN="a", path=desk.at("c"), **plain
    )
    create.create_csr(ctx, key, CN="a", ST="b", MAIL="a@b.org", path=desk.at("r"), subjectAltName="DNS:a")
    revoked = [{"serial_number": "0F", "extensions": {word: last[word] for word in entry_words}}]
    create.create_crl(
        ctx, key, revoked, crt, path=desk.at("l"), extensions={word: last[word] for word in crl_words}
    )
    kinds = [("certificate", desk.at("c")), ("csr", desk.at("r")), ("crl", desk.at("l"))]
    theirs = salts_answers({"read": kinds, "key": key, "ca": crt, "make": []})["read"]
    for kind, path in kinds:
        here = getattr(read, f"read_{kind}")(ctx, path)
        assert json.loads(json.dumps(here, default=str)) == theirs[path], kind
