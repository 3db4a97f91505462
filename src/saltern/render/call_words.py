"""Read call arguments like Salt's command line and ``publish``: words, some of them ``KEY=VALUE``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from saltern.render.yaml import read
from saltern.render.yaml_limits import YamlProblem


def read_words(words: Iterable[object]) -> tuple[list[object], dict[str, object]]:
    """``a b k=v`` as the arguments of a call; each text is read as YAML, or kept if it is not YAML. A
    mapping with ``__kwarg__`` contains keywords; other values are kept.

    ``a==b`` is not a keyword, as in Salt: a pip requirement, or base64.
    """
    args: list[object] = []
    kwargs: dict[str, object] = {}
    for word in words:
        if isinstance(word, Mapping) and word.get("__kwarg__") is True:
            kwargs |= {str(key): value for key, value in word.items() if key != "__kwarg__"}
        elif not isinstance(word, str):
            args.append(word)
        elif keyword := _keyword(word):
            kwargs[keyword[0]] = read_word(keyword[1])
        else:
            args.append(read_word(word))
    return args, kwargs


def _keyword(word: str) -> tuple[str, str] | None:
    """A keyword and its value; names may contain a dash or a dot, like ``read-ahead``."""
    name, equals, value = word.partition("=")
    if not equals or value.startswith("=") or name[:1] in ("-", "."):
        return None
    return (name, value) if name.replace("-", "_").replace(".", "_").isidentifier() else None


def read_word(text: str) -> object:
    """A value as Salt's command line reads it: YAML, but text that only resembles YAML stays text."""
    if not text.strip() or any(letter in text for letter in "\t\r\n"):
        return text
    if "_" in text and not text.strip("0123456789_ "):
        return text
    try:
        found = None if text == "None" else read(text)
    except YamlProblem:
        return text
    return found if _is_meant(text, found) else text


def _is_meant(text: str, found: object) -> bool:
    """True if the YAML value is meant: mappings and lists need brackets; text with ``#`` or lone signs is
    kept.
    """
    if isinstance(found, dict):
        return text.startswith("{")
    if isinstance(found, list):
        return text.startswith("[")
    if "#" in text:
        return isinstance(found, int | float)
    if found is None:
        return text in ("None", "null", "Null", "NULL", "~")
    return isinstance(found, str | int | float) and not (found == "" and text in ("|", "!"))
