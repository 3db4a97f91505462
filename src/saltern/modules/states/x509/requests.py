"""``x509.csr_managed``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saltern.language.result import Result
from saltern.modules.api import state
from saltern.modules.context import Context
from saltern.modules.states._programs import guarded
from saltern.modules.states.file.answers import Refusal
from saltern.modules.states.x509.extensions import EXTENSIONS, different, extensions
from saltern.modules.states.x509.library import (
    encoding_of,
    load_key,
    load_request,
    material,
    part,
    public_bytes,
    signing_digest,
)
from saltern.modules.states.x509.names import ALIASES, ATTRIBUTES, name_of
from saltern.modules.states.x509.placing import placed, spot
from saltern.system import files


def check_words(rest: Mapping[str, object], more: frozenset[str] = frozenset()) -> None:
    """Whatever is neither part of a name nor an extension is a mistake, and would be missed in silence."""
    known = {*ATTRIBUTES, *ALIASES, *EXTENSIONS, *more}
    if unknown := [word for word in rest if word not in known and not word.startswith("__")]:
        from saltern.modules.params import unknown_argument

        raise Refusal(unknown_argument(unknown[0], known))


@state
def csr_managed(
    ctx: Context,
    /,
    name: str,
    *,
    private_key: str,
    private_key_passphrase: str | None = None,
    digest: str = "sha256",
    encoding: str = "pem",
    subject: object = None,
    **kwargs: object,
) -> Result:
    """A certificate request is there, for this key and this name.

    Args:
        name: the absolute path of the file.
        private_key: the path of the private key, or its PEM text.
        private_key_passphrase: what opens it.
        digest: ``sha256``, ``sha384``, ``sha512`` …
        encoding: ``pem`` or ``der``.
        subject: the name, as a mapping, a list or ``CN=www.example.org,O=Example``; or give its parts as
            arguments of their own: ``CN``, ``O``, ``OU``, ``C``, ``ST``, ``L``, ``emailAddress`` …
        basicConstraints, keyUsage, extendedKeyUsage, subjectKeyIdentifier, subjectAltName and others: what
            the certificate shall have, as OpenSSL writes it: ``critical, CA:FALSE``.
        user, group, mode, makedirs, dir_mode, backup: as in ``file.managed``.

    Example:
        ```yaml
        /etc/pki/www.csr:
          x509.csr_managed:
            - private_key: /etc/pki/www.key
            - CN: www.example.org
            - subjectAltName: DNS:www.example.org
        ```
    """

    def work() -> Result:
        where = spot(name, kwargs)
        check_words(where.rest)
        encoding_of(encoding)
        key = load_key(material(private_key, "private_key"), private_key_passphrase, "private_key")
        wanted_name = name_of(subject, where.rest)
        wanted = extensions(where.rest, key.public_key(), None, key.public_key())
        chosen = signing_digest(key, digest)
        old = files.read(where.path)
        differs = _differences(where.path, old, wanted_name, key, wanted, chosen, encoding)

        def make() -> bytes:
            builder = part("x509").CertificateSigningRequestBuilder().subject_name(wanted_name)
            for critical, value in wanted.values():
                builder = builder.add_extension(value, critical)
            made: bytes = builder.sign(key, chosen).public_bytes(encoding_of(encoding))
            return made

        return placed(ctx, where, differs, make, _facts, what="certificate signing request")

    return guarded(work, ctx=ctx, foreseen={"created": name}, path=name)


def _differences(
    path: str, old: bytes | None, name: Any, key: Any, wanted: dict[str, Any], digest: Any, encoding: str
) -> dict[str, object]:
    if old is None:
        return {"created": path}
    try:
        found = load_request(old, path)
    except Refusal:
        return {"replaced": path}
    changes: dict[str, object] = {}
    if found.subject != name:
        changes["subject"] = {"old": found.subject.rfc4514_string(), "new": name.rfc4514_string()}
    if public_bytes(found.public_key()) != public_bytes(key.public_key()):
        changes["private_key"] = True
    if parts := different(wanted, found.extensions):
        changes["extensions"] = parts
    if digest is not None and getattr(found.signature_hash_algorithm, "name", None) != digest.name:
        changes["digest"] = digest.name
    if (b"-----BEGIN" in old) != (encoding == "pem"):
        changes["encoding"] = encoding
    return {"replaced": path, **changes} if changes else {}


def _facts(data: bytes | None) -> dict[str, object]:
    if data is None:
        return {"subject": None}
    return {"subject": load_request(data, "the request").subject.rfc4514_string()}
