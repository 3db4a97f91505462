"""Writes what ``saltern check`` found: for people, as JSON, as SARIF 2.1.0, as GitHub annotations."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TextIO

from msgspec import Struct

from saltern import __version__
from saltern.language.diagnostics import Diagnostic
from saltern.language.source import Mark
from saltern.report.text import emit, safe_line, tame

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
Data = dict[str, object]


class Found(Struct, frozen=True, kw_only=True):
    """``fixable`` are the problems that ``--fix`` can fix, ``fixed`` counts those it has fixed; ``docs`` are
    the docs of the rules.
    """

    problems: Sequence[Diagnostic]
    fixable: Collection[Diagnostic] = ()
    fixed: int = 0
    files: int = 0
    machines: Mapping[Diagnostic, Sequence[str]] = {}  # the machines that have the problem, if not all
    count: int = 0  # number of machines, if some were named
    docs: Mapping[str, str] = {}
    colour: bool = False


def human(found: Found, out: TextIO) -> None:
    from saltern.report.diagnostics import show

    show(found.problems, out, found.colour)
    files = f"{found.files} file{'s' * (found.files != 1)}"
    some = f" for {found.count} machine{'s' * (found.count != 1)}" if found.count else ""
    words = [f"checked {files}{some}" + ("" if found.problems else ", no problems")]
    if found.fixed:
        words.append(f"{found.fixed} fixed")
    if found.fixable:
        words.append(f"{len(found.fixable)} can be fixed with --fix")
    emit(out, "; ".join(words) + "\n")


def json(found: Found, out: TextIO) -> None:
    rows = [
        {
            "severity": one.severity.value,
            "code": one.code,
            "message": one.what,
            **_plainly(one.where),
            "fix": one.fix,
            "fixable": one in found.fixable,
            "detail": one.detail,
            "machines": list(found.machines.get(one, ())),
            "also": [{"note": note, **_plainly(mark)} for note, mark in one.also],
        }
        for one in found.problems
    ]
    _write({"files": found.files, "fixed": found.fixed, "problems": rows}, out)


def _plainly(mark: Mark | None) -> Data:
    if mark is None:
        return {"file": None, "line": None, "column": None}
    return {"file": _relative(mark.file), "line": mark.line or None, "column": mark.column or None}


def sarif(found: Found, out: TextIO) -> None:
    codes = sorted({one.code for one in found.problems})
    driver = {
        "name": "saltern",
        "version": __version__,
        "rules": [{"id": code, "shortDescription": {"text": found.docs.get(code, code)}} for code in codes],
    }
    results = [_result(one, codes.index(one.code)) for one in found.problems]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    _write({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, out)


def _result(one: Diagnostic, rule: int) -> Data:
    result: Data = {
        "ruleId": one.code,
        "ruleIndex": rule,
        "level": one.severity.value,
        "message": {"text": _message(one)},
    }
    if one.where is not None:
        result["locations"] = [_location(one.where)]
    if one.also:
        result["relatedLocations"] = [
            {**_location(mark), "message": {"text": note}} for note, mark in one.also
        ]
    return result


def _location(mark: Mark) -> Data:
    from urllib.parse import quote

    path = _relative(mark.file)
    uri = quote(os.fsencode(path))
    place: Data = {"artifactLocation": {"uri": f"file://{uri}" if path.startswith("/") else uri}}
    if mark.line:
        place["region"] = {"startLine": mark.line, **({"startColumn": mark.column} if mark.column else {})}
    return {"physicalLocation": place}


def github(found: Found, out: TextIO) -> None:
    """Write a workflow command for each problem; GitHub shows it at its line."""
    for one in found.problems:
        words = {"title": one.code}
        if one.where is not None:
            words["file"] = _relative(one.where.file)
            words |= {"line": str(one.where.line)} if one.where.line else {}
            words |= {"col": str(one.where.column)} if one.where.column else {}
        parameters = ",".join(f"{name}={_escape(text, ':,')}" for name, text in words.items())
        emit(out, safe_line(f"::{one.severity.value} {parameters}::{_escape(_message(one))}") + "\n")


def _escape(text: str, more: str = "") -> str:
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _message(one: Diagnostic) -> str:
    return "\n".join(
        [one.what, *([one.detail] if one.detail else []), *([f"fix: {one.fix}"] if one.fix else [])]
    )


def _relative(file: str) -> str:
    """The path relative to the working directory, as in a checkout, if the file is below it."""
    here = os.getcwd()
    return os.path.relpath(file, here) if file.startswith(here.rstrip("/") + "/") else file


def _write(value: Data, out: TextIO) -> None:
    from saltern.report.salt import dumps

    emit(out, tame(dumps(value, indent=True).decode()) + "\n")


WRITERS: dict[str, Callable[[Found, TextIO], None]] = {
    "human": human,
    "json": json,
    "sarif": sarif,
    "github": github,
}
