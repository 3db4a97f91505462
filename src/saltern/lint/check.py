"""A whole check: walk, ask the rules, and keep what the user wants to hear."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from saltern.compiler.compile import Rules
from saltern.language.delayed import Limit
from saltern.language.diagnostics import Diagnostic
from saltern.language.source import SlsRef
from saltern.lint.files import KeptLoader
from saltern.lint.findings import Edit, Findings
from saltern.lint.page import Page
from saltern.lint.rules import Choices, chosen
from saltern.lint.select import select
from saltern.lint.survey import Walk
from saltern.session import Session

_IGNORED = re.compile(r"saltern: ignore((?:[ ,]+[a-z0-9-]+)+)")
_COLON = re.compile(r"[ ]*(?:- +)?['\"]?[\w.]+['\"]?:(?P<rest>[ ]*)(?:#.*)?")


class Checked(Struct, frozen=True, kw_only=True):
    """What was found, sorted by place; ``edits`` mend some of it. ``files`` is how many were looked at."""

    problems: list[Diagnostic]
    edits: dict[Diagnostic, Edit]
    files: int


def check(
    session: Session,
    words: Sequence[str],
    *,
    without: Sequence[str],
    choices: Choices,
    rules: Rules,
    limit: Limit,
) -> Checked:
    """``words`` are SLS names and paths; none is all. The session is prepared."""
    selection = select(session, words, without)
    found = Findings()
    found.add(session.warnings)
    walk = Walk(session, selection, rules, limit, found)
    survey = walk.walk()
    pages = _pages(walk.loader, session, selection.refs)
    for rule in chosen(choices):
        if rule.text is not None:
            for page in pages.values():
                rule.text(page, found)
        if rule.run is not None:
            for unit in walk.units:
                rule.run(unit, found)
        if rule.tree is not None:
            rule.tree(survey, found)
    _add_edits(found, pages)
    problems = _wanted(found, choices, walk.loader)
    edits = {one: found.edits[before] for one, before in problems.items() if before in found.edits}
    return Checked(problems=list(problems), edits=edits, files=len(pages))


def _pages(loader: KeptLoader, session: Session, refs: Sequence[SlsRef]) -> dict[str, Page]:
    """The files as text, by path. Those that cannot be read are told already."""
    sources = [source for ref in refs if (source := loader.known(ref))]
    return {source.path: Page(source, session.settings.renderer) for source in sources}


def _add_edits(found: Findings, pages: dict[str, Page]) -> None:
    """For what the compiler tells and can be mended by rote: a colon with nothing below it."""
    for problem in found:
        where = problem.where
        if problem.code != "short-form-colon" or where is None or where.file not in pages:
            continue
        page = pages[where.file]
        line = page.lines[where.line - 1]
        if colon := _COLON.fullmatch(line.text):
            found.edits[problem] = page.edit(line, *colon.span("rest"), " []" + colon["rest"])


def _wanted(found: Findings, choices: Choices, loader: KeptLoader) -> dict[Diagnostic, Diagnostic]:
    """The problems as they are told, each once and sorted, with what each was before."""
    tabs = {(one.where.file, one.where.line) for one in found if one.code == "tab-indent" and one.where}
    kept: dict[Diagnostic, Diagnostic] = {}
    for problem in sorted(dict.fromkeys(found), key=_place):
        severity = choices.get(problem.code, problem.severity)
        where = problem.where
        follows = problem.code == "yaml-syntax" and where and (where.file, where.line) in tabs
        if severity is not None and not follows and not _is_ignored(problem, loader):
            kept[replace(problem, severity=severity)] = problem
    return kept


def _is_ignored(problem: Diagnostic, loader: KeptLoader) -> bool:
    """``# saltern: ignore RULE`` on the line, or on the one above it."""
    text = loader.text_of(problem.where.file) if problem.where else None
    if text is None or "saltern: ignore" not in text or problem.where is None:
        return False
    at = problem.where.line
    said = _IGNORED.findall("\n".join(text.split("\n")[max(at - 2, 0) : at]))
    return any(problem.code in re.split(r"[ ,]+", names) for names in said)


def _place(problem: Diagnostic) -> tuple[str, int, int, str, str]:
    mark = problem.where
    return (
        (mark.file, mark.line, mark.column, problem.code, problem.what)
        if mark
        else ("", 0, 0, "", problem.what)
    )
