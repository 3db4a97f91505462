"""Arguments as they may be shown: values that are secret by their name are left out."""

from __future__ import annotations

import re
from collections.abc import Mapping

HIDDEN = "(concealed)"
WHOLE = frozenset({"pillar", "pillar_override", "env", "environ"})  # what is below these may all be secret
_SECRET = re.compile(r"passw|passphrase|secret|token|credential|private|api_?key|auth", re.IGNORECASE)


def conceal_arguments(arguments: Mapping[str, object]) -> dict[str, object]:
    """The same arguments with the secret values replaced, at any depth."""
    return {name: HIDDEN if is_secret(name) else _inside(value) for name, value in arguments.items()}


def is_secret(name: str) -> bool:
    return name in WHOLE or _SECRET.search(name) is not None


def _inside(value: object) -> object:
    if isinstance(value, Mapping):
        return conceal_arguments({str(name): one for name, one in value.items()})
    return [_inside(one) for one in value] if isinstance(value, list) else value
