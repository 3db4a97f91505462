"""The secrets that this process has decrypted or fetched: they can be used, and are never shown.

A value is secret by its origin: the code that decrypts or fetches it calls ``add``. There is one list for the
whole process, since outputs are written far from the code that renders. While it is empty, a check costs
almost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

T = TypeVar("T")
Stand = Callable[[str, type], str]  # replaces a secret in a text, in bytes, or a whole number

MASK = "***"
WHOLE = 6  # characters: a shorter secret is found only as a word of its own, a longer one anywhere
SHORTEST = 3  # an even shorter one only if it is the whole value
_TRIVIAL = frozenset({"true", "false", "none", "null", "yes", "no"})  # values that are in every report

_forms: dict[str, None] = {}  # all texts that reveal a secret
_index: dict[str, list[str]] = {}  # by their first characters, the longest first
_short: set[str] = set()
_shows = False
_values: dict[str, None] = {}  # the secrets themselves, as added


def add(value: object) -> None:
    """Treat every text and number in ``value`` as secret from now on."""
    for text in () if _shows else leaves(value):
        if text not in _values and text.lower() not in _TRIVIAL and text.strip():
            _values[text] = None
            for form in _forms_of(text):
                _add_form(form)


def show_all() -> None:
    """Show secrets in this process, at the request of the user."""
    global _shows
    forget()
    _shows = True


def known() -> bool:
    """True if there are any."""
    return bool(_values)


def values() -> list[str]:
    """All secrets, for a process that uses the same data."""
    return list(_values)


def forms() -> Iterable[str]:
    """All texts that reveal a secret."""
    return [*_forms, *_short]


def forget() -> None:
    """Forget all secrets, before this process uses the data of another system."""
    for kept in (_forms, _index, _short, _values):
        kept.clear()


def mask(text: str) -> str:
    """The text without secrets."""
    return replaced_in(text, _stars) if _values else text


def mask_all(value: T) -> T:
    """The data with secrets masked; the same object if it has none."""
    return replace_all(value, _stars) if _values else value


def holds(value: object) -> bool:
    """True if there is a secret in the data."""
    return bool(_values) and replace_all(value, _stars) is not value


def replace_all(value: T, stand: Stand) -> T:
    """The data with each secret, also in keys, replaced by the value of ``stand`` for it."""
    return _replace(value, stand)  # type: ignore[return-value]


def replaced_in(text: str, stand: Stand) -> str:
    """The text with each secret replaced by the value of ``stand`` for it."""
    return _replace_in_text(text, stand, str)


def _replace_in_text(text: str, stand: Stand, kind: type) -> str:
    if text in _short or (_forms and text in _forms):
        return stand(text, kind)
    pieces: list[str] = []
    begin, at, last = 0, 0, len(text) - SHORTEST
    while at <= last:
        found = _at(text, at) if text[at : at + SHORTEST] in _index else ""
        if found:
            pieces += (text[begin:at], stand(found, kind))
            begin = at = at + len(found)
        else:
            at += 1
    return "".join((*pieces, text[begin:])) if pieces else text


def _at(text: str, at: int) -> str:
    for form in _index[text[at : at + SHORTEST]]:
        if text.startswith(form, at) and (len(form) >= WHOLE or _is_word(text, at, at + len(form))):
            return form
    return ""


def _is_word(text: str, begin: int, end: int) -> bool:
    return not (begin and text[begin - 1].isalnum()) and not text[end : end + 1].isalnum()


def _stars(_secret: str, _kind: type) -> str:
    return MASK


def _replace(value: object, stand: Stand) -> object:
    if isinstance(value, str):
        made = replaced_in(value, stand)
        return value if made == value else made
    if isinstance(value, Mapping):
        pairs = [(_replace(key, stand), _replace(inner, stand)) for key, inner in value.items()]
        same = all(new is key and to is value[key] for key, (new, to) in zip(value, pairs, strict=True))
        return value if same else dict(pairs)
    if isinstance(value, list | tuple | set | frozenset):
        items = [_replace(inner, stand) for inner in value]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else type(value)(items)
    return _replaced_other(value, stand)


def _replaced_other(value: object, stand: Stand) -> object:
    if isinstance(value, bytes):
        text = value.decode("utf-8", "surrogateescape")
        made = _replace_in_text(text, stand, bytes)
        return value if made == text else made.encode("utf-8", "surrogateescape")
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = _number(value)
        return stand(text, type(value)) if text in _forms or text in _short else value
    return value


def _add_form(form: str) -> None:
    if len(form) < SHORTEST:
        _short.add(form)
    elif form not in _forms:
        _forms[form] = None
        row = _index.setdefault(form[:SHORTEST], [])
        row.append(form)
        row.sort(key=len, reverse=True)


def _forms_of(text: str) -> Iterator[str]:
    """The forms in which a text may appear: whole, by lines as in a diff, escaped, in a URL, in base64."""
    yield text
    if "\n" in text:
        yield from (line.strip() for line in text.splitlines() if len(line.strip()) >= WHOLE)
    bare = text.strip()
    yield bare
    if len(bare) >= SHORTEST:
        yield from _escaped_forms(bare)
    if len(text) >= WHOLE:
        yield from _encoded_forms(text)


def _escaped_forms(text: str) -> Iterator[str]:
    if not (text.isascii() and text.isalnum()):
        import json

        yield repr(text)[1:-1]
        yield json.dumps(text)[1:-1]
        yield json.dumps(text, ensure_ascii=False)[1:-1]
        yield text.replace("'", "'\"'\"'")  # in a command, quoted for a shell
        yield text.replace("'", "''")  # in YAML and in SQL
        yield text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _encoded_forms(text: str) -> Iterator[str]:
    from binascii import b2a_base64

    data = text.encode("utf-8", "surrogateescape")
    yield b2a_base64(data, newline=False).decode().rstrip("=")
    if not (text.isascii() and text.isalnum()):
        from urllib.parse import quote

        yield quote(data, safe="")


def leaves(value: object) -> Iterator[str]:
    """The texts and numbers in data, without the keys of mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "surrogateescape")
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield _number(value)


def _number(value: float) -> str:
    try:
        return str(value)
    except ValueError:  # a number with too many digits for Python to print
        return ""
