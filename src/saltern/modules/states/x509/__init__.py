"""``x509``: private keys, certificate requests, certificates and revocation lists.

Needs the Python library ``cryptography``.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "certificate_managed": "certificates",
    "crl_managed": "revocations",
    "csr_managed": "requests",
    "pem_managed": "pems",
    "private_key_managed": "keys",
}
