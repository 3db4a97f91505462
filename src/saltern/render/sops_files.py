"""Formats of sops files that no renderer reads: dotenv and INI. The metadata of sops is flat in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_DOTENV = re.compile(r"^\w[\w.-]*\s*=", re.MULTILINE)
_INI = re.compile(r"^\[sops\]\s*$", re.MULTILINE)
_SECTION = re.compile(r"\[(.+)\]\s*")
_FLAT = re.compile(r"__(map|list)_")
_QUOTES = ('"""', "`", '"')
TOP = "DEFAULT"  # the sops name for entries above all sections
PREFIX = "sops_"
Flat = dict[str, object]


class NotRead(Exception):
    """A line that cannot be parsed: what is wrong, and its number."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.line = line


def is_dotenv(text: str) -> bool:
    begin = text.lstrip()
    commented = begin.startswith("#") and _DOTENV.search(begin) is not None and f"\n{PREFIX}" in begin
    return _DOTENV.match(begin) is not None or commented


def is_ini(text: str) -> bool:
    return _INI.search(text) is not None


def read_dotenv(text: str) -> Flat:
    """The data, with the entry ``sops``. Raises ``NotRead``."""
    values: Flat = {}
    for number, line in enumerate(text.split("\n"), 1):
        name, mark, value = line.partition("=")
        if not line.strip() or line.startswith("#"):
            continue
        if not mark:
            raise NotRead("this line of a dotenv file has no '='", number)
        values[name] = value.replace("\\n", "\n")
    about = {name.removeprefix(PREFIX): one for name, one in values.items() if name.startswith(PREFIX)}
    return _whole({name: one for name, one in values.items() if not name.startswith(PREFIX)}, about)


def read_ini(text: str) -> Flat:
    """The data by sections, with the entry ``sops``. Raises ``NotRead``."""
    found: dict[str, Flat] = {TOP: {}}
    section = found[TOP]
    lines = iter(enumerate(text.split("\n"), 1))
    for number, line in lines:
        title = _SECTION.fullmatch(line.strip())
        if title is not None:
            section = found.setdefault(title[1], {})
        elif line.strip() and not line.lstrip().startswith(("#", ";")):
            name, mark, value = line.partition("=")
            if not mark:
                raise NotRead("this line of an INI file has no '='", number)
            section[name.strip()] = _unquote(value.strip(), lines)
    about = {name: str(one).replace("\\n", "\n") for name, one in found.pop("sops", {}).items()}
    return _whole({name: one for name, one in found.items() if one or name != TOP}, about)


def _unquote(value: str, more: Iterator[tuple[int, str]]) -> str:
    """A value without its quotes; a value in triple quotes continues until they end."""
    if value.startswith('"""'):
        while not value.endswith('"""') or len(value) < 6:
            following = next(more, None)
            if following is None:
                break
            value += "\n" + following[1]
    for quote in _QUOTES:
        if len(value) >= 2 * len(quote) and value.startswith(quote) and value.endswith(quote):
            return value[len(quote) : -len(quote)]
    return value


def _whole(values: Mapping[str, object], about: Mapping[str, object]) -> Flat:
    return {**values, **({"sops": _tree(about)} if about else {})}


def _tree(values: Mapping[str, object]) -> dict[str, object]:
    """``age__list_0__map_enc`` and similar keys as lists and mappings."""
    tree: dict[str, object] = {}
    for name, value in values.items():
        *above, last = (part for part in _FLAT.split(name) if part not in ("map", "list"))
        where = tree
        for step in above:
            inner = where.setdefault(step, {})
            assert isinstance(inner, dict)
            where = inner
        where[last] = value
    return {name: _restore_lists(one) for name, one in tree.items()}


def _restore_lists(value: object) -> object:
    if not isinstance(value, dict):
        return value == "true" if value in ("true", "false") else value
    if value and all(key.isdigit() for key in value):
        return [_restore_lists(value[key]) for key in sorted(value, key=int)]
    return {key: _restore_lists(inner) for key, inner in value.items()}
