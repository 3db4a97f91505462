"""The keys of an agent, in files that only their owner can read. They never leave the machine."""

from __future__ import annotations

import os
import stat

from msgspec import Struct

from saltern.fleet.identity.nkeys import BadKey, Holder, read_seed, seed_text
from saltern.fleet.protocol.keys import SealingKey, SigningKey, fingerprint
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.files import Attributes, read, write
from saltern.system.private import make_private

SIGNING = "signing.key"
SEALING = "sealing.key"
OWNER_ONLY = Attributes(mode=0o600)


class AgentKeys(Struct, frozen=True):
    """Ed25519 to prove the agent's identity, X25519 to open what is sealed for it."""

    signing: SigningKey
    sealing: SealingKey

    @property
    def fingerprint(self) -> str:
        """The fingerprint of both keys, which an operator compares before accepting."""
        return fingerprint(self.signing.public, self.sealing.public)


def new_keys() -> AgentKeys:
    return AgentKeys(SigningKey.new(), SealingKey.new())


def load_or_make_keys(folder: str) -> AgentKeys:
    """The keys in the folder; new ones if there are none."""
    if any(os.path.lexists(os.path.join(folder, name)) for name in (SIGNING, SEALING)):
        return load_keys(folder)
    keys = new_keys()
    make_private(folder)
    # The sealing key is written first: if the signing key exists, both do.
    write(os.path.join(folder, SEALING), keys.sealing.seed.hex().encode() + b"\n", OWNER_ONLY)
    write(os.path.join(folder, SIGNING), seed_text(keys.signing, Holder.USER).encode() + b"\n", OWNER_ONLY)
    return keys


def load_keys(folder: str) -> AgentKeys:
    signing, sealing = (_text(os.path.join(folder, name)) for name in (SIGNING, SEALING))
    try:
        return AgentKeys(read_seed(signing, Holder.USER), SealingKey(bytes.fromhex(sealing)))
    except (BadKey, ValueError):
        what = f"the keys in {folder} are damaged"
        fix = "restore them from a backup, or remove both files and join again as a new machine"
        raise OperationError(Diagnostic(code="fleet-keys-damaged", what=what, fix=fix)) from None


def _text(path: str) -> str:
    check_private(path)
    try:
        data = read(path)
    except OSError as problem:
        what = f"the key {path} cannot be read: {problem.strerror}"
        fix = "run as the user that the agent runs as"
        raise OperationError(Diagnostic(code="fleet-keys-unreadable", what=what, fix=fix)) from None
    if data is None:
        what = f"the key {path} is missing"
        fix = "restore it from a backup, or remove the other one and join again as a new machine"
        raise OperationError(Diagnostic(code="fleet-keys-damaged", what=what, fix=fix))
    return data.decode("ascii", "replace").strip()


def check_private(path: str) -> None:
    """Refuse a key that other users can read: they may have copied it."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return
    if stat.S_IMODE(mode) & 0o077:
        what = f"the key {path} can be read by others (mode {stat.S_IMODE(mode):04o})"
        fix = f"if no one else has read it: chmod 600 {path}; else remove the keys and join again"
        raise OperationError(Diagnostic(code="fleet-keys-exposed", what=what, fix=fix))
