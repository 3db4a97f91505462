"""Slots: arguments that are computed just before the call.

``__slot__:salt:mod.fun(args…)[.path.to.key][ ~ text]``. Only where Salt looks: an
argument, the values of a mapping, the items of a list, and the values of mappings in a list. Every
argument of the function is passed as text. A slot that cannot be read fails its state; it never
reaches a function as literal text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from saltern.language.diagnostics import words_of
from saltern.language.late import Literal

if TYPE_CHECKING:
    from saltern.runtime.ports import Caller

PREFIX = "__slot__:"


class NotReady(Exception):
    """A state that cannot be called as written; the text is for the user."""


class BadSlot(NotReady):
    """A slot that cannot be filled; the text is for the user."""


def has_slots(args: Mapping[str, object]) -> bool:
    for value in args.values():
        if value.__class__ is str:
            if value.startswith(PREFIX):
                return True
        elif value.__class__ in (list, dict) and PREFIX in repr(value):
            return True
    return False


def resolve(args: Mapping[str, object], caller: Caller) -> dict[str, object]:
    """The arguments with every slot filled. Raises ``BadSlot``."""
    return {key: resolve_value(value, caller) for key, value in args.items()}


def resolve_value(value: object, caller: Caller) -> object:
    if isinstance(value, str):
        return fill(value, caller)
    if isinstance(value, dict):
        return {key: fill(inner, caller) for key, inner in value.items()}
    if isinstance(value, list):
        return [
            {key: fill(inner, caller) for key, inner in item.items()}
            if isinstance(item, dict)
            else fill(item, caller)
            for item in value
        ]
    return value


def fill(value: object, caller: Caller) -> object:
    if isinstance(value, Literal):
        return str(value)
    if not isinstance(value, str) or not value.startswith(PREFIX):
        return value
    name, args, kwargs, path, appended = parse(value)
    try:
        result = caller.function(name, args, kwargs)
    except LookupError as problem:
        raise BadSlot(f"slot {value!r}: {problem.args[0] if problem.args else problem}") from None
    except (Exception, SystemExit) as problem:
        raise BadSlot(f"slot {value!r}: {name} failed: {words_of(problem)}") from None
    for step in path:
        result = _step(result, step)
    if appended and isinstance(result, str):
        result += appended
    return result


def _step(value: object, key: str) -> object:
    if isinstance(value, Mapping):
        return value.get(key)
    if isinstance(value, list) and key.isdigit() and int(key) < len(value):
        return value[int(key)]
    return None


Parsed = tuple[str, list[object], dict[str, object], list[str], str]


def parse(text: str) -> Parsed:
    """Function, arguments, keywords, path into the result, text to append."""
    provider, _, call = text[len(PREFIX) :].partition(":")
    if provider != "salt":
        raise BadSlot(
            f"slot {text!r}: the provider {provider!r} is not known; write '{PREFIX}salt:mod.fun()'"
        )
    name, bracket, rest = call.partition("(")
    if not bracket or "." not in name:
        raise BadSlot(f"slot {text!r} is not a call; write '{PREFIX}salt:mod.fun(arguments)'")
    words, end = _arguments(rest, text)
    args: list[object] = []
    kwargs: dict[str, object] = {}
    for word, keyword in words:
        if keyword:
            kwargs[keyword] = word
        else:
            args.append(word)
    path, appended = _tail(rest[end:], text)
    return name.strip(), args, kwargs, path, appended


def _arguments(text: str, whole: str) -> tuple[list[tuple[str, str]], int]:
    """The words up to the closing bracket, each with its keyword, and where the rest begins."""
    words: list[tuple[str, str]] = []
    word, keyword, quote, depth = "", "", "", 0
    seen = False
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if quote:
            if char == "\\" and text[at : at + 1] in (quote, "\\"):
                word += text[at]
                at += 1
            elif char == quote:
                quote = ""
            else:
                word += char
        elif char in "'\"":
            quote, seen = char, True
        elif char in "([{":
            depth += 1
            word += char
        elif char in ")]}" and depth:
            depth -= 1
            word += char
        elif char == ")":
            if seen or word or keyword:
                words.append((word, keyword))
            return words, at
        elif char == "," and not depth:
            words.append((word, keyword))
            word, keyword, seen = "", "", False
        elif char == "=" and not depth and not keyword and word.isidentifier():
            keyword, word = word, ""
        elif not char.isspace():
            word += char
            seen = True
    raise BadSlot(f"slot {whole!r}: a quote or bracket is not closed")


def _tail(text: str, whole: str) -> tuple[list[str], str]:
    path, tilde, appended = text.partition("~")
    path = path.strip()
    if path and not path.startswith("."):
        raise BadSlot(f"slot {whole!r}: {path!r} comes after the call; a path begins with '.'")
    appended = appended.strip()
    if len(appended) > 1 and appended[0] == appended[-1] and appended[0] in "'\"":
        appended = appended[1:-1]
    return [step for step in path.split(".") if step], appended if tilde else ""
