"""``x509``: read, create and verify keys, certificates, requests and revocation lists.

Needs the Python library ``cryptography``. ``LAZY`` says which submodule has which function; none is imported
before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "create_certificate": "create",
    "create_crl": "create",
    "create_csr": "create",
    "create_private_key": "create",
    "encode_certificate": "encode",
    "encode_crl": "encode",
    "encode_csr": "encode",
    "encode_private_key": "encode",
    "expired": "query",
    "expires": "query",
    "get_pem_entries": "pem",
    "get_pem_entry": "pem",
    "get_private_key_size": "query",
    "get_public_key": "query",
    "get_signing_policy": "query",
    "read_certificate": "read",
    "read_certificates": "read",
    "read_crl": "read",
    "read_csr": "read",
    "verify_crl": "verify",
    "verify_private_key": "verify",
    "verify_signature": "verify",
    "will_expire": "query",
    "write_pem": "pem",
}
