"""Check that the engine's own options in a state's arguments have a valid shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from saltern.compiler.parse import kind_of
from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics, did_you_mean
from saltern.language.keywords import KEYWORDS

RETRY_KEYS = ("attempts", "until", "interval", "splay", "backoff")
FLAGS = (
    "failhard",
    "parallel",
    "onfail_stop",
    "reload_modules",
    "force_reload_modules",
    "reload_grains",
    "reload_pillar",
    "no_log",
)


def _flag(value: object) -> str:
    return "" if isinstance(value, bool) or value is None else f"is {kind_of(value)}"


def _number(value: object) -> bool:
    """True for a finite number that is not negative."""
    try:
        number = float(str(value))
    except ValueError:
        return False
    return not isinstance(value, bool) and 0 <= number < 1e9


def _retry(value: object) -> str:
    if isinstance(value, bool):
        return ""
    if not isinstance(value, Mapping):
        return f"is {kind_of(value)}"
    for key, inner in value.items():
        if key not in RETRY_KEYS:
            hint = did_you_mean(str(key), RETRY_KEYS)
            return f"has the key {key!r}, which is not known" + (f"; {hint}" if hint else "")
        if key == "until":
            if not isinstance(inner, bool):
                return f"has {kind_of(inner)} for 'until', which is true or false"
        elif not _number(inner):
            return f"has {inner!r} for {key!r}, which is a number from 0 on"
    return ""


def _commands(value: object) -> str:
    items = value if isinstance(value, list) else [value]
    bad = next((item for item in items if not isinstance(item, str)), None)
    return "" if bad is None else f"has {kind_of(bad)} where a command belongs"


def _octal(value: object) -> str:
    text = str(value)
    right = isinstance(value, int | str) and not isinstance(value, bool) and text.isdigit()
    return "" if right and len(text) <= 4 and not text.strip("01234567") else f"is {value!r}"


def _names(value: object) -> str:
    items = value if isinstance(value, list) else [value]
    bad = next((item for item in items if not isinstance(item, str)), None)
    return "" if bad is None else f"has {kind_of(bad)} where the name of an argument belongs"


CONDITIONS = ("onlyif", "unless")


def _check_condition(chunk: Chunk, word: str, found: Diagnostics) -> None:
    value = chunk.args.get(word)
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, str) and not (isinstance(item, dict) and "fun" in item):
            found.warn(
                "condition-ignored",
                f"{word!r} of {chunk.label!r} has {kind_of(item)} where a condition belongs; "
                "it does not count",
                where=chunk.mark(word),
                fix="write a command, or {fun: module.function}",
            )


CHECKS: dict[str, Callable[[object], str]] = {
    **dict.fromkeys(FLAGS, _flag),
    "retry": _retry,
    "check_cmd": _commands,
    "cmd_opts_exclude": _names,
    "umask": _octal,
}


def check_options(chunks: Iterable[Chunk], found: Diagnostics) -> None:
    for chunk in chunks:
        for word in chunk.words:
            if word in CONDITIONS:
                _check_condition(chunk, word, found)
            ask = CHECKS.get(word)
            if ask is None or word not in chunk.args:
                continue
            problem = ask(chunk.args[word])
            if problem:
                found.error(
                    "keyword-shape",
                    f"{word!r} of {chunk.label!r} {problem}",
                    where=chunk.mark(word),
                    fix=f"it takes: {KEYWORDS[word].shape}",
                )
