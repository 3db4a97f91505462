"""Replace secrets in a plan file with checksums, which identify the same secrets when the plan is applied.

To apply a plan, its states are compiled again and the same values decrypted: they are looked up by their
checksums. A secret that has changed is not found, and the plan is refused.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TypeVar

from saltern.language import secrets
from saltern.language.secret_tokens import fill_tokens, token
from saltern.language.texts import texts_in

Data = TypeVar("Data")


def conceal(body: Data, salt: str) -> Data:
    """The data with checksums in place of secrets."""
    return (
        secrets.replace_all(body, lambda text, kind: token(_sum(text, salt), kind))
        if secrets.known()
        else body
    )


def reveal(body: object, salt: str, also: object = None) -> object:
    """The data with checksums replaced by the secrets of this process, or by texts of ``also``."""
    known = {_sum(text, salt): text for text in (*secrets.forms(), *texts_in(also))}
    return fill_tokens(body, known.get)


def _sum(text: str, salt: str) -> str:
    """A salted checksum, so that a short secret cannot be looked up in a table."""
    return sha256(f"{salt} {text}".encode("utf-8", "surrogateescape")).hexdigest()
