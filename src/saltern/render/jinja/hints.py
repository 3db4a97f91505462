"""Hints for templates that Jinja cannot parse or run."""

from __future__ import annotations

import re
from collections.abc import Mapping

from saltern.language.diagnostics import did_you_mean

_OPENED = re.compile(
    r"looking for (?:the following tags: )?(?P<wanted>.*?)\. The .* closed is '(?P<tag>\w+)'", re.S
)
_UNKNOWN_TAG = re.compile(r"Encountered unknown tag '(?P<name>\w+)'")
_OTHER_LANGUAGES = {"elseif": "elif", "elsif": "elif", "foreach": "for", "unless": "if not", "let": "set"}
_TAGS = (
    *(
        "if",
        "elif",
        "else",
        "endif",
        "for",
        "endfor",
        "set",
        "endset",
        "macro",
        "endmacro",
        "call",
        "endcall",
    ),
    *(
        "import",
        "from",
        "include",
        "do",
        "raw",
        "endraw",
        "filter",
        "endfilter",
        "block",
        "endblock",
        "break",
    ),
    *("import_yaml", "import_json", "import_text", "load_yaml", "load_json", "endload", "continue", "with"),
)
# Messages of Jinja or Python → hints.
_SYNTAX = (
    (re.compile(r"unexpected '[}%]'"), "end an expression with '}}', a tag with '%}'"),
    (re.compile(r"unexpected char [\"']{2,3}"), "a quote is not closed"),
    (re.compile(r"got '='$"), "compare with '=='"),
    (re.compile(r"expected name or number"), "a name is missing after a '.'"),
    (re.compile(r"Expected an expression, got 'end of"), "something is missing before '}}' or '%}'"),
    (re.compile(r"Missing end of comment tag"), "end the comment with '#}'"),
    (re.compile(r"Missing end of raw directive"), "close 'raw': {% endraw %}"),
)
_FAILED = (
    (re.compile(r"'NoneType' object is not iterable"), "it is None here: loop over '(… or [])'"),
    (re.compile(r"values to unpack \(expected 2"), "to loop over names and values, add '.items()'"),
    (re.compile(r"can only concatenate str"), "join text with '~', which takes numbers, too"),
)


def syntax_fix(message: str, filters: Mapping[str, object], tests: Mapping[str, object]) -> str:
    for kind, known in (("No filter named", filters), ("No test named", tests)):
        if message.startswith(kind):
            return did_you_mean(message.split("'")[1], known)
    opened = _OPENED.search(message)
    close = f"close {opened['tag']!r} first: {{% end{opened['tag']} %}}" if opened else ""
    if tag := _UNKNOWN_TAG.match(message):
        if tag["name"] in _OTHER_LANGUAGES:
            return f"it is called {_OTHER_LANGUAGES[tag['name']]!r} here"
        return close or did_you_mean(tag["name"], _TAGS)
    return close or _first(_SYNTAX, message)


def failed_fix(message: str) -> str:
    return _first(_FAILED, message)


def _first(rows: tuple[tuple[re.Pattern[str], str], ...], message: str) -> str:
    return next((fix for pattern, fix in rows if pattern.search(message)), "")
