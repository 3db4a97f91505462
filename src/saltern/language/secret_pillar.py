"""Which values of a pillar are secret, for the machine that it is sent to.

They are sent within the pillar, sealed as it is: the machine masks them as if it had decrypted them itself.
"""

from __future__ import annotations

from saltern.language import secrets

KEY = "\ue000secrets"  # no key that a user can mean


def packed_secrets() -> dict[str, list[bytes]]:
    """An entry for the pillar with the secrets that this process knows; none if it knows none."""
    found = [text.encode("utf-8", "surrogateescape") for text in secrets.values()]
    return {KEY: found} if found else {}


def unpack_secrets(pillar: dict[str, object]) -> dict[str, object]:
    """The pillar without that entry; what it lists is secret in this process, too."""
    secrets.add(pillar.pop(KEY, None))
    return pillar
