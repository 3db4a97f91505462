"""Rules about values that YAML or Jinja reads differently from what the author meant."""

from __future__ import annotations

import re

from saltern.lint.findings import Findings
from saltern.lint.page import Line, Page
from saltern.render.yaml import MOST_SIXTIES, plain

_OCTAL = re.compile(r"0o?[0-7]{3,4}")
_SIXTIES = re.compile(r"(?<![0-9_])[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_MODES = re.compile(r"\w*mode|umask")
# Arguments that are text, whatever they look like.
_TEXTS = {"name", "hostname", "user", "group", "owner", "runas", "password", "comment"}
_TEXTS |= {"version", "release", "channel", "rev", "branch", "tag"}
_SECRET = re.compile(
    r"^[ ]*- +(?P<key>(?:\w+_)?(?:password|passwd|secret|token|api_key|passphrase)):[ ]+(?P<value>\S.*)$",
    re.MULTILINE,
)
_NO_SECRET = re.compile(
    r"['\"]?(?:\{|\$|[!*x]['\"]?$|salt://|__slot__|None|null|~|true|false)", re.IGNORECASE
)
_JINJA = re.compile(r"\{\{|\{%")
_OPEN_VALUE = re.compile(r"^[ ]*(?:- +)*(?:[\w.-]+:[ ]+)?(?P<tag>\{\{.*)$")
# A rule checks the lines of a text only if this is found in it: most texts need only one search.
_SOME_OCTAL = re.compile(r"(?:mode|umask):[ ]+0o?[0-7]{3}")
_SOME_TEXT = re.compile(
    rf"\b(?:{'|'.join(sorted(_TEXTS))}):[ ]+(?:[^\sA-Za-z'\"/{{\[]|(?:y|n|yes|no|true|false|on|off|null)\b)",
    re.IGNORECASE,
)
_SOME_COMMENT = re.compile(r"^[ \t]*#.*\{[{%]", re.MULTILINE)
ENCODING = re.compile(
    r"\|\s*(?:tojson|json|json_encode_dict|json_encode_list|json_encode|yaml_encode|yaml_dquote|yaml_squote|yaml"
    r"|int|float|length|count|to_bool|indent)\b"
)


def unquoted_octal(page: Page, found: Findings) -> None:
    if not _SOME_OCTAL.search(page.text):
        return
    for line, value in page.values:
        if value["key"] and _MODES.fullmatch(value["key"]) and _OCTAL.fullmatch(value["value"]):
            what = f"{value['value']} is a number here, whose value depends on the YAML parser"
            _report("unquoted-octal", what, page, line, value, found)


def base_sixty(page: Page, found: Findings) -> None:
    if not _SIXTIES.search(page.text):
        return
    for line, value in page.values:
        if value["value"].count(":") <= MOST_SIXTIES and _SIXTIES.fullmatch(value["value"]):
            what = f"YAML reads {value['value']} in base 60: {plain(value['value'])}"
            _report("base-sixty", what, page, line, value, found)


def unquoted_text(page: Page, found: Findings) -> None:
    if not _SOME_TEXT.search(page.text):
        return
    for line, value in page.values:
        text = value["value"]
        if value["key"] not in _TEXTS or _SIXTIES.fullmatch(text):
            continue
        read = plain(text)
        if not isinstance(read, str) and not _same(read, text):
            what = f"YAML reads the {value['key']} {text} as {_describe_value(read)}"
            _report("unquoted-text", what, page, line, value, found)


def _report(code: str, what: str, page: Page, line: Line, value: re.Match[str], found: Findings) -> None:
    """Report a plain word that should be quoted."""
    start, end = value.span("value")
    quoted = f"'{value['value']}'"
    edit = page.edit(line, start, end, quoted)
    found.warn(code, what, where=page.mark(line, start), fix=f"quote it: {quoted}", edit=edit)


def literal_secret(page: Page, found: Findings) -> None:
    if not _SECRET.search(page.text):
        return
    for line in page.yaml():
        secret = _SECRET.match(line.text)
        if secret and not _NO_SECRET.match(secret["value"]):
            found.warn(
                "literal-secret",
                f"{secret['key']!r} is written into the file",
                where=page.mark(line, secret.start("key")),
                fix=f"keep it in the pillar: {{{{ pillar['{secret['key']}'] }}}}",
            )


def jinja_in_comment(page: Page, found: Findings) -> None:
    if not page.is_jinja or not _SOME_COMMENT.search(page.text):
        return
    for line in page.lines:
        tag = _JINJA.search(line.text) if line.kind == "comment" else None
        if tag:
            found.warn(
                "jinja-in-comment",
                "a template is rendered even after '#'",
                where=page.mark(line, tag.start()),
                fix="write {# … #}",
            )


def unquoted_jinja(page: Page, found: Findings) -> None:
    if not page.is_jinja:
        return
    for line in page.yaml():
        value = _OPEN_VALUE.match(line.text)
        if value and not ENCODING.search(value["tag"]) and not _is_key(value["tag"]):
            found.warn(
                "unquoted-jinja",
                "YAML interprets the rendered text of a value that begins with '{{'",
                where=page.mark(line, value.start("tag")),
                fix="add '| tojson' inside of it, or put quotes around it",
            )


def _is_key(tag: str) -> bool:
    return tag.rstrip().endswith(":") or bool(re.search(r"\}\}[^'\"]*:\s", tag))


def _same(read: object, text: str) -> bool:
    """True if the value, converted back to text, is the same text."""
    return isinstance(read, int | float) and not isinstance(read, bool) and str(read) == text


def _describe_value(read: object) -> str:
    if read is None:
        return "nothing"
    return str(read).lower() if isinstance(read, bool) else f"the number {read}"
