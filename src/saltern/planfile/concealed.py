"""Secrets in the file of a plan: a sum stands for each, which the same secret has when the plan is applied.

To apply a plan, its states are compiled again and the same values decrypted: they are looked up by their
sums. A secret that has changed meanwhile is not found, and the plan has moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import TypeVar

from saltern.language import secrets
from saltern.language.secret_tokens import filled, token

Data = TypeVar("Data")


def concealed(body: Data, salt: str) -> Data:
    """The data with sums in place of secrets."""
    return (
        secrets.replaced(body, lambda text, kind: token(_sum(text, salt), kind)) if secrets.known() else body
    )


def revealed(body: object, salt: str, also: object = None) -> object:
    """The data with the secrets that this process knows, or texts of ``also``, in place of their sums."""
    known = {_sum(text, salt): text for text in (*secrets.forms(), *_texts(also))}
    return filled(body, known.get)


def _sum(text: str, salt: str) -> str:
    """Salted: a short secret cannot be guessed from it by a table."""
    return sha256(f"{salt} {text}".encode("utf-8", "surrogateescape")).hexdigest()


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for inner in value.values() for text in _texts(inner))
    elif isinstance(value, Iterable) and not isinstance(value, bytes):
        yield from (text for inner in value for text in _texts(inner))
