"""Copies of certificates."""

from __future__ import annotations

import os
from typing import Any

from saltern.modules.api.refused import Refused
from saltern.modules.lib.x509 import certificate as pki
from saltern.modules.lib.x509.library import part
from saltern.system import files


def keep_copy(certificate: Any, directory: object, prepend_cn: bool) -> None:
    """Write a copy in PEM, for the records of the signer."""
    if not directory:
        return
    folder = str(directory)
    if not os.path.isabs(folder):
        raise Refused(f"copypath must be an absolute path, got {folder!r}")
    common = (pki.common_name(certificate) or "").replace("/", "_")
    before = f"{common}-" if prepend_cn and common else ""
    path = os.path.join(folder, f"{before}{certificate.serial_number:x}.crt")
    files.write(path, certificate.public_bytes(part("serialization").Encoding.PEM))
