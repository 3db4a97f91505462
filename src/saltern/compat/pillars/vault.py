"""``vault``: what a path of a key-value store holds."""

from __future__ import annotations

import re
import shlex
from typing import Any

from saltern.compat.pillars.ports import Asked, SourceError, look_up, words_of
from saltern.language import secrets
from saltern.language.merge import merge
from saltern.system.vault import Vault, VaultError

_PATTERN = re.compile(r"\{(minion|pillar|grains)((?:\[[^\]]*\])*)\}")


def vault(asked: Asked, given: object) -> object:
    """``path=secret/data``, with ``{minion}``, ``{pillar[a][b]}`` and ``{grains[a]}`` in it; several, with
    commas between them, are merged. All values are secret."""
    words = _words(given)
    paths = str(words.get("path") or words.get("0") or "")
    if not paths:
        raise SourceError("it needs path=…")
    config = asked.opts.get("vault") or {}
    found: dict[str, object] = {}
    try:
        client = Vault(config)
        secrets.add(client.credentials)
        for path in paths.split(","):
            data = client.read(_PATTERN.sub(lambda one: _value(one, asked), path.strip()))
            secrets.add(data)
            made = merge(found, data, strategy="smart", merge_lists=bool(words.get("merge_lists")))
            assert isinstance(made, dict)
            found = made
    except VaultError as problem:
        raise SourceError(str(problem)) from None
    return _nested(found, words.get("nesting_key"))


def _words(given: object) -> dict[str, Any]:
    """Salt's form is one text, ``path=… nesting_key=…``."""
    words = words_of(given)
    text = words.get("0")
    if isinstance(text, str):
        pairs = [word.partition("=") for word in shlex.split(text)]
        words |= {name: value for name, mark, value in pairs if mark}
    return words


def _value(found: re.Match[str], asked: Asked) -> str:
    if found[1] == "minion":
        return asked.id
    data = asked.pillar if found[1] == "pillar" else asked.grains
    value = look_up(data, ":".join(re.findall(r"\[['\"]?([^\]'\"]*)['\"]?\]", found[2])))
    if not isinstance(value, str | int):
        raise SourceError(f"there is no value for {found[0]}")
    return str(value)


def _nested(found: dict[str, object], key: object) -> dict[str, object]:
    return {str(key): found} if key else found
