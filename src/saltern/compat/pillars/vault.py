"""``vault``: pillar from a path of a key-value store."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

from saltern.compat.pillars.ports import Asked, SourceError, look_up, words_of
from saltern.language import secrets
from saltern.language.merge import merge
from saltern.system.vault import VaultError, client_of

_PATTERN = re.compile(r"\{(minion|pillar|grains)((?:\[[^\]]*\])*)\}")
_STEP = re.compile(r"\[['\"]?([^\]'\"]*)['\"]?\]")


def vault(asked: Asked, given: object) -> object:
    """The values at a path, which may contain ``{minion}``, ``{pillar[a][b]}`` and ``{grains[a]}``; a list,
    or commas, give several paths. Their values are merged; a path without values adds nothing. All values are
    secret.
    """
    words = _words(given)
    patterns = str(words.get("path") or words.get("0") or "").removeprefix("path=")
    if not patterns:
        raise SourceError("it needs path=…")
    strategy = str(words.get("merge_strategy") or asked.opts.get("pillar_source_merging_strategy") or "smart")
    lists = bool(words.get("merge_lists", asked.opts.get("pillar_merge_lists")))
    found: dict[str, object] = {}
    try:
        client = client_of(asked.opts.get("vault") or {})
        secrets.add(client.credentials)
        for path in (path for one in patterns.split(",") for path in _paths(one.strip(), asked)):
            data = client.find(path) or {}
            secrets.add(data)
            made = merge(found, data, strategy=strategy, merge_lists=lists)
            assert isinstance(made, dict)
            found = made
    except VaultError as problem:
        raise SourceError(str(problem)) from None
    return {str(words["nesting_key"]): found} if words.get("nesting_key") else found


def _words(given: object) -> dict[str, Any]:
    """The words from ``path=…``, also under ``conf``, as in Salt; or each word by its name."""
    words = words_of(given)
    text = words.get("conf") or words.get("0")
    if isinstance(text, str):
        pairs = [word.partition("=") for word in shlex.split(text)]
        words = {name: value for name, mark, value in pairs if mark} | words
    return words


def _paths(pattern: str, asked: Asked) -> Iterator[str]:
    """The paths for a pattern; none if a part of it has no value."""
    found = _PATTERN.search(pattern)
    if found is None:
        yield pattern
        return
    value = _value(found, asked)
    for one in value if isinstance(value, list) else [] if value is None else [value]:
        if ".." in str(one).split("/"):
            raise SourceError(f"the value for {found[0]} would lead to another path")
        if isinstance(one, str | int):
            yield from _paths(pattern.replace(found[0], str(one)), asked)


def _value(found: re.Match[str], asked: Asked) -> object:
    if found[1] == "minion":
        return asked.id
    data = asked.pillar if found[1] == "pillar" else asked.grains
    return look_up(data, ":".join(_STEP.findall(found[2])))
