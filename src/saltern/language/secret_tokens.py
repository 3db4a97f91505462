"""Tokens in place of secrets in stored data; they record whether the secret was text or a number."""

from __future__ import annotations

import re
from collections.abc import Callable

OPEN, CLOSE = "\ue000", "\ue001"  # characters that no alphabet contains
KINDS: dict[str, type] = {"s": str, "b": bytes, "i": int, "f": float}
_SIGNS = {kind: sign for sign, kind in KINDS.items()}
_TOKEN = re.compile(f"{OPEN}([{''.join(KINDS)}])([A-Za-z0-9_=-]+){CLOSE}")
Look = Callable[[str], str | None]  # the secret of a token; None if it is unknown here


def token(said: str, kind: type) -> str:
    return f"{OPEN}{_SIGNS.get(kind, 's')}{said}{CLOSE}"


def fill_tokens(value: object, look: Look) -> object:
    """The data with tokens replaced by their secrets; unknown tokens stay."""
    if isinstance(value, str):
        return _filled_text(value, look) if OPEN in value else value
    if isinstance(value, bytes):
        made = _filled_text(value.decode("utf-8", "surrogateescape"), look)
        return str(made).encode("utf-8", "surrogateescape")
    if isinstance(value, dict):
        return {fill_tokens(key, look): fill_tokens(inner, look) for key, inner in value.items()}
    return [fill_tokens(inner, look) for inner in value] if isinstance(value, list | tuple) else value


def _filled_text(text: str, look: Look) -> object:
    whole = _TOKEN.fullmatch(text)
    if whole is not None and KINDS[whole[1]] in (int, float):
        found = look(whole[2])
        return text if found is None else _number(found, KINDS[whole[1]])
    return _TOKEN.sub(lambda one: one[0] if (found := look(one[2])) is None else found, text)


def _number(text: str, kind: type) -> object:
    try:
        return kind(text)
    except ValueError:  # a mask
        return text
