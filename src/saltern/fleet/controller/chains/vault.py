"""``Vault``: how secret inputs of chains are stored and sent. In the database they are sealed to a key that
the controllers of a fleet share outside the database; in a job each system has its own sealed box.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from msgspec import DecodeError, json

from saltern.chains.inputs import Input, secret_names
from saltern.fleet.protocol.keys import SealingKey
from saltern.fleet.protocol.seal import SealBroken, SealedFor, open_seal, seal
from saltern.fleet.protocol.sealed_inputs import INPUTS, SEALED, bound_to, open_arguments, read_box
from saltern.fleet.store.database import Connection
from saltern.fleet.store.systems import sealing_keys
from saltern.language.diagnostics import Diagnostic, OperationError

Specs = Mapping[str, Input]
MARK = "saltern-sealed"  # the one key of a mapping that stands for a value


class Vault:
    """Seals what is secret, and opens it again."""

    def __init__(self, seed: bytes, fleet: str) -> None:
        self._key = SealingKey(hmac.digest(seed, b"saltern secret inputs 1", hashlib.sha256))
        self._fleet = fleet
        self._seed = seed

    def fingerprint(self, data: bytes) -> str:
        """A keyed digest, from which nothing can be guessed without the key."""
        return hmac.digest(self._seed, b"saltern fingerprint 1\n" + data, hashlib.sha256).hex()

    # -- in the database -----------------------------------------------------------------------------------

    def seal_values(self, specs: Specs, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values for storage, with secret inputs sealed."""
        hidden = {name for name in secret_names(specs) if name in values}
        return {name: self._seal_value(name, one) if name in hidden else one for name, one in values.items()}

    def _seal_value(self, name: str, value: object) -> dict[str, str]:
        return {MARK: _text(seal(json.encode(value), self._key.public, self._seal_purpose(name)))}

    def open_values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The stored values, unsealed; ``OperationError`` if the key has changed since."""
        return {name: self._open_value(name, one) if is_sealed(one) else one for name, one in values.items()}

    def _open_value(self, name: str, value: Mapping[str, Any]) -> Any:
        try:
            return json.decode(open_seal(read_box(value[MARK]), self._key, self._seal_purpose(name)))
        except (SealBroken, DecodeError):
            what = f"the secret input {name!r} was sealed with a key that is not this controller's"
            fix = "restore the old broker/keys/authority.json, or give it again: saltern chain retry --input"
            raise OperationError(Diagnostic(code="chain-secret-lost", what=what, fix=fix)) from None

    def _seal_purpose(self, name: str) -> SealedFor:
        return SealedFor(fleet=self._fleet, system="", purpose=f"input {name}")

    # -- in jobs -------------------------------------------------------------------------------------------

    def arguments(
        self,
        connection: Connection,
        systems: list[str],
        specs: Specs,
        values: Mapping[str, Any],
    ) -> dict[str, Any]:
        """The inputs as arguments of a job: plain ones for all, and a box of the secret ones for each system.

        For a system without its own key, the controller that drives it opens its box.
        """
        names = [name for name in secret_names(specs) if name in values]
        plain = {name: one for name, one in values.items() if name not in names}
        if not names:
            return {INPUTS: plain}
        data, keys = json.encode({name: values[name] for name in names}), sealing_keys(connection, systems)
        boxes = {one: self._box(data, one, keys.get(one) or self._key.public) for one in systems}
        return {INPUTS: plain, SEALED: boxes}

    def _box(self, data: bytes, system: str, key: bytes) -> str:
        return _text(seal(data, key, bound_to(self._fleet, system)))

    def opened_arguments(self, system: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a job on a system that this controller drives."""
        return open_arguments(arguments, self._key, self._fleet, system)


def is_sealed(value: object) -> bool:
    """True for a sealed secret in the database."""
    return isinstance(value, Mapping) and list(value) == [MARK] and isinstance(value[MARK], str)


def _text(box: bytes) -> str:
    return b64encode(box).decode()
