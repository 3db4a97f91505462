"""Certificate requests: the specification from arguments, the comparison with an existing one, and
creation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from saltern.modules.lib.x509 import extensions as table
from saltern.modules.lib.x509.library import digest_change, part, same_key, signing_digest
from saltern.modules.lib.x509.load import load_key
from saltern.modules.lib.x509.material import material
from saltern.modules.lib.x509.names import name_of


class WantedRequest(Struct, frozen=True, kw_only=True):
    subject: Any
    key: Any
    digest: Any
    extensions: table.Made


def wanted_request(
    given: Mapping[str, object], private_key: object, passphrase: str | None, digest: str
) -> WantedRequest:
    key = load_key(material(private_key, "private_key"), passphrase, "private_key")
    own = {name: make for name, make in table.CERTIFICATE.items() if name not in table.OF_THE_SIGNER}
    return WantedRequest(
        subject=name_of(given.get("subject"), given),
        key=key,
        digest=signing_digest(key, digest),
        extensions=table.extensions(given, own, public_key=key.public_key()),
    )


def request_differences(found: Any, want: WantedRequest) -> dict[str, object]:
    changes = digest_change(found, want.digest)
    if not same_key(found.public_key(), want.key.public_key()):
        changes["private_key"] = True
    if found.subject != want.subject:
        changes["subject_name"] = want.subject.rfc4514_string()
    if parts := table.differences(want.extensions, found.extensions):
        changes["extensions"] = parts
    return changes


def made_request(want: WantedRequest) -> Any:
    builder = part("x509").CertificateSigningRequestBuilder().subject_name(want.subject)
    return table.add(builder, want.extensions).sign(want.key, want.digest)
