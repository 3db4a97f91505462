"""``salt.utils.hashutils``."""

# ruff: noqa: F401 - exported under Salt's names

from __future__ import annotations

from saltern.render.filters.crypto import (
    base64_decode,
    base64_encode,
    file_hashsum,
    hmac_compute,
    md5,
    random_hash,
    sha1,
    sha256,
    sha512,
)
from saltern.render.filters.crypto import hmac_matches as hmac_signature

md5_digest, sha1_digest, sha256_digest, sha512_digest = md5, sha1, sha256, sha512
get_hash = file_hashsum
base64_b64encode = base64_encodestring = base64_encode
base64_b64decode = base64_decodestring = base64_decode
