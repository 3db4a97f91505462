"""The fleet's own CA, and the certificate of its broker. Agents trust this CA and no other."""

from __future__ import annotations

import hashlib
import ipaddress
import os
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from msgspec import Struct

from saltern.fleet.identity.keys import OWNER_ONLY, check_private
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.files import read, write
from saltern.system.private import make_private

CA_LIFE = timedelta(days=3650)
SERVER_LIFE = timedelta(days=397)
LATE = timedelta(days=7)  # certificates are valid from an earlier time: a clock may be days behind


class CertificateFiles(Struct, frozen=True):
    """Where the certificates are."""

    folder: str

    @property
    def ca(self) -> str:
        return os.path.join(self.folder, "ca.pem")

    @property
    def ca_key(self) -> str:
        return os.path.join(self.folder, "ca.key")

    @property
    def server(self) -> str:
        return os.path.join(self.folder, "server.pem")

    @property
    def server_key(self) -> str:
        return os.path.join(self.folder, "server.key")


def prepare_certificates(folder: str, names: tuple[str, ...], *, fleet: str, now: float) -> CertificateFiles:
    """Make what is missing; renew the server's certificate in its last third, or when its names change."""
    files = CertificateFiles(folder)
    make_private(folder)
    at = datetime.fromtimestamp(now, UTC)
    if not os.path.lexists(files.ca) or not os.path.lexists(files.ca_key):
        _make_ca(files, fleet, at)
    if _is_stale(files, names, at):
        _make_server(files, names, at)
    return files


def ca_der(files: CertificateFiles) -> bytes:
    return _certificate(files.ca).public_bytes(Encoding.DER)


def ca_fingerprint(files: CertificateFiles) -> str:
    return hashlib.sha256(ca_der(files)).hexdigest()


def _make_ca(files: CertificateFiles, fleet: str, at: datetime) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(f"saltern CA of {fleet}"[:64])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(at - LATE)
        .not_valid_after(at + CA_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    _write_key(files.ca_key, key)
    write(files.ca, certificate.public_bytes(Encoding.PEM))


def _make_server(files: CertificateFiles, names: tuple[str, ...], at: datetime) -> None:
    key, chain = _make_signed_key(files, names, at)
    _write_key(files.server_key, key)
    write(files.server, chain)


def new_pair(files: CertificateFiles, names: tuple[str, ...], now: float) -> tuple[str, str]:
    """A certificate for another broker with these names, with its CA, and its key; both as PEM."""
    key, chain = _make_signed_key(files, names, datetime.fromtimestamp(now, UTC))
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return chain.decode(), text.decode()


def sign_key(files: CertificateFiles, names: tuple[str, ...], key: str, now: float) -> str:
    """A certificate, with its CA, for a key that another broker has made. Raises ``ValueError``."""
    found = load_pem_public_key(key.encode())
    if not isinstance(found, ec.EllipticCurvePublicKey):
        raise ValueError("it is not the key of a broker")
    return _certify(files, names, found, datetime.fromtimestamp(now, UTC)).decode()


def _make_signed_key(
    files: CertificateFiles, names: tuple[str, ...], at: datetime
) -> tuple[ec.EllipticCurvePrivateKey, bytes]:
    """A new key, and its certificate with that of the CA."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key, _certify(files, names, key.public_key(), at)


def _certify(
    files: CertificateFiles, names: tuple[str, ...], key: ec.EllipticCurvePublicKey, at: datetime
) -> bytes:
    ca, ca_key = _certificate(files.ca), _key(files.ca_key)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(_name("saltern broker"))
        .issuer_name(ca.subject)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(at - LATE)
        .not_valid_after(min(at + SERVER_LIFE, ca.not_valid_after_utc))
        .add_extension(x509.SubjectAlternativeName([_alternative(one) for one in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
            critical=False,
        )
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False
        )
        .sign(ca_key, hashes.SHA256())
    )
    return certificate.public_bytes(Encoding.PEM) + ca.public_bytes(Encoding.PEM)


def _is_stale(files: CertificateFiles, names: tuple[str, ...], at: datetime) -> bool:
    if not os.path.lexists(files.server) or not os.path.lexists(files.server_key):
        return True
    found = _certificate(files.server)
    if is_due(found, at) or found.issuer != _certificate(files.ca).subject:
        return True
    held = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return set(held) != {_alternative(one) for one in names}


def is_due(certificate: x509.Certificate, at: datetime) -> bool:
    """True in the last third of the certificate's lifetime. Pure."""
    life = certificate.not_valid_after_utc - certificate.not_valid_before_utc
    return at > certificate.not_valid_after_utc - life / 3


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _write_key(path: str, key: ec.EllipticCurvePrivateKey) -> None:
    write(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), OWNER_ONLY)


def _certificate(path: str) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(read(path) or b"")
    except ValueError:
        raise _damage_error(path) from None


def _key(path: str) -> ec.EllipticCurvePrivateKey:
    check_private(path)
    try:
        key = load_pem_private_key(read(path) or b"", None)
    except (ValueError, TypeError):
        raise _damage_error(path) from None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise _damage_error(path)
    return key


def _damage_error(path: str) -> OperationError:
    what = f"the certificate or key {path} is damaged"
    fix = "restore it from a backup; with a new CA every agent has to join again"
    return OperationError(Diagnostic(code="fleet-certificate-damaged", what=what, fix=fix))
