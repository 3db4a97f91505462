"""Rules about delayed rendering that need only the text of a file."""

from __future__ import annotations

import re

from saltern.language.delayed import PREV_RET
from saltern.lint.findings import Findings
from saltern.lint.page import Line, Page
from saltern.lint.yaml_traps import ENCODING

_CHANGES = re.compile(r"\bprev_ret(?:\.changes|\[['\"]changes['\"]\])(?:\.(?!get\b)\w+|\[[^\]]+\])")
# States of an orchestration whose changes always contain the return of what they called.
_ANSWERS = re.compile(r"^[ ]+salt\.(?:function|runner|wheel):", re.MULTILINE)
_ANSWER = re.compile(r"(?:\.|\[['\"])(?:ret|return)(?:['\"]\])?$")
_KEPT = re.compile(r"\|\s*(?:default|d)\b|\bis\s+(?:not\s+)?defined\b|\.get\(")
_TAG = re.compile(r"\{\{[-+]?(?P<expression>[^{}]*\bprev_ret\b[^{}]*?)(?P<end>\s*[-+]?\}\})")
_START = re.compile(r"(?:\{%[-+]?[ \t]*|#!)delayed_block[ \t]+(?P<name>[^\s%]+)(?P<rest>.*)$")
_END = re.compile(r"(?:\{%[-+]?[ \t]*|#!)end_delayed_block\b(?P<name>[^%]*)(?:%\}[ \t]*)?$")


def prev_ret_changes(page: Page, found: Findings) -> None:
    if PREV_RET not in page.text or not page.is_jinja:
        return
    answers = _ANSWERS.search(page.text) is not None
    for line in page.lines:
        for asked in _CHANGES.finditer(line.text):
            if answers and _ANSWER.search(asked[0]):
                continue
            if not _KEPT.search(_rest(line.text, asked.end())):
                found.warn(
                    "prev-ret-changes",
                    f"{asked[0]} exists only on the first run: without a change, 'changes' is empty",
                    where=page.mark(line, asked.start()),
                    fix="use prev_ret.data, which always exists, or add | default(…)",
                )


def _rest(text: str, start: int) -> str:
    """The rest of the tag."""
    ends = [end for end in (text.find("}}", start), text.find("%}", start)) if end >= 0]
    return text[start : min(ends)] if ends else text[start:]


def prev_ret_unquoted(page: Page, found: Findings) -> None:
    if PREV_RET not in page.text or not page.is_jinja or not page.is_yaml:
        return
    for line in page.yaml():
        for tag in _TAG.finditer(line.text):
            before = line.text[: tag.start()]
            if ENCODING.search(tag["expression"]) or _is_quoted(before):
                continue
            whole = (
                re.fullmatch(r"[ ]*(?:- +)*(?:[\w.-]+:[ ]+)?", before) and not line.text[tag.end() :].strip()
            )
            at = tag.start("end")
            found.warn(
                "prev-ret-unquoted",
                "a return may contain anything; YAML would read it as if you had written it here",
                where=page.mark(line, tag.start()),
                fix="add '| tojson'"
                if whole
                else "quote the value, or write the whole value as one {{ … | tojson }}",
                edit=page.edit(line, at, at, " | tojson") if whole else None,
            )


def _is_quoted(before: str) -> bool:
    return before.count('"') % 2 == 1 or before.count("'") % 2 == 1


def draft_spelling(page: Page, found: Findings) -> None:
    """Report ``{% delayed_block A %}``, the spelling of the first draft."""
    for line, tag, name, _ in _tags(page):
        if not line.text.startswith("{%"):
            continue
        words = f" {name}" if name else ""
        wanted = f"#!{tag}{words}"
        found.warn(
            "delayed-draft-spelling",
            f"this is the first draft's spelling of {wanted!r}",
            where=page.mark(line),
            fix=f"write {wanted!r}",
            edit=page.edit(line, 0, len(line.text), wanted),
        )


def end_unnamed(page: Page, found: Findings) -> None:
    for line, tag, name, begun in _tags(page):
        if tag == "end_delayed_block" and not name and begun and line.text.startswith("#!"):
            end = len(line.text.rstrip())
            found.warn(
                "delayed-end-unnamed",
                f"this ends the block {begun!r} without naming it",
                where=page.mark(line),
                fix=f"write '#!end_delayed_block {begun}'",
                edit=page.edit(line, end, len(line.text), f" {begun}"),
            )


def _tags(page: Page) -> list[tuple[Line, str, str, str]]:
    """The line, kind and words of each tag, and for an end the name of the block."""
    if "delayed_block" not in page.text:
        return []
    found: list[tuple[Line, str, str, str]] = []
    opened: list[str] = []
    for line in page.lines:
        if start := _START.match(line.text):
            opened.append(start["name"])
            words = start["name"] + re.sub(r"[ \t]*[-+]?%\}[ \t]*$", "", start["rest"])
            found.append((line, "delayed_block", words.rstrip(), ""))
        elif end := _END.match(line.text):
            begun = opened.pop() if opened else ""
            found.append((line, "end_delayed_block", end["name"].rstrip("-+ \t").strip(), begun))
    return found
