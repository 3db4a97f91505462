"""``gpg``: decrypt OpenPGP blocks in the values of a file, with the key ring of this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from saltern.render.armour import Armour, Unusable, decrypt_all, opened_text, pattern
from saltern.render.document import Job, Rendered
from saltern.system.gpg import Message, NoKeyRing, decrypt

SALTS = "/etc/salt/gpgkeys"


def gpg(value: object, job: Job) -> object:
    """The data with all blocks decrypted."""
    return decrypt_all(value, BLOCKS, job)


def gpg_text(made: Rendered, job: Job) -> Rendered:
    """The text with its blocks decrypted, before it is parsed."""
    return opened_text(made, BLOCKS, job)


def key_ring(opts: Mapping[str, object]) -> str:
    """The directory of the key ring: as configured, or beside the configuration, or Salt's."""
    if given := opts.get("gpg_keydir"):
        return os.path.expanduser(str(given))
    beside = os.path.join(str(opts.get("config_dir") or "/etc/saltern"), "gpgkeys")
    return SALTS if not os.path.isdir(beside) and os.path.isdir(SALTS) else beside


def _by_key_ring(blocks: Sequence[str], opts: Mapping[str, object]) -> Sequence[Message]:
    try:
        return decrypt(blocks, key_ring(opts))
    except NoKeyRing as problem:
        raise Unusable(str(problem)) from None


BLOCKS = Armour(
    name="gpg",
    block=pattern("PGP MESSAGE"),
    decrypt=_by_key_ring,
    fix="encrypt it for a key whose secret part is in the key ring, or set gpg_keydir",
    optional="gpg_decrypt_must_succeed",
)
