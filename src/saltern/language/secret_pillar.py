"""Lists the secret values of a pillar for the system that it is sent to.

The list is part of the encrypted pillar: the system masks them as if it had decrypted them itself.
"""

from __future__ import annotations

from saltern.language import secrets

KEY = "\ue000secrets"  # a key that no user would choose


def packed_secrets() -> dict[str, list[bytes]]:
    """An entry for the pillar with the secrets that this process knows; none if it knows none."""
    found = [text.encode("utf-8", "surrogateescape") for text in secrets.values()]
    return {KEY: found} if found else {}


def unpack_secrets(pillar: dict[str, object]) -> dict[str, object]:
    """Remove that entry from the pillar, and treat the listed values as secrets in this process."""
    secrets.add(pillar.pop(KEY, None))
    return pillar
