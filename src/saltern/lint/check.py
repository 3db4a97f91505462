"""A whole check: survey the tree, apply the rules, and keep what the user has selected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from saltern.engine.options import bounds, compiler_options
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.language.diagnostics import Diagnostic, PillarError
from saltern.language.masked_problem import masked_problem
from saltern.language.source import SlsRef
from saltern.lint.files import KeptLoader
from saltern.lint.findings import Edit, Findings
from saltern.lint.page import Page
from saltern.lint.rules import Choices, chosen_rules
from saltern.lint.select import select
from saltern.lint.survey import Walk, walk_tree

_IGNORED = re.compile(r"saltern: ignore((?:[ ,]+[a-z0-9-]+)+)")
MOST_NAMED = 6  # machines
# A problem → a better problem about the same line, which replaces it.
_CAUSES = {"yaml-syntax": "tab-indent", "name-not-text": "unquoted-text"}
_COLON = re.compile(r"[ ]*(?:- +)?['\"]?[\w.]+['\"]?:(?P<rest>[ ]*)(?:#.*)?")


class Checked(Struct, frozen=True, kw_only=True):
    """The problems, sorted by place; ``edits`` fix some of them. ``files`` is the number of files checked.

    ``machines``: the machines that have a problem, if not all of them have it; ``count`` is the number of
    machines, if they were named.
    """

    problems: list[Diagnostic]
    edits: dict[Diagnostic, Edit]
    files: int
    machines: dict[Diagnostic, tuple[str, ...]] = {}
    count: int = 0


def check(
    session: Session,
    words: Sequence[str],
    choices: Choices,
    *,
    without: Sequence[str] = (),
    machines: Mapping[str, Session] | None = None,
) -> Checked:
    """Compile every file, or the named ones, and every run of the top file; run nothing.

    ``words`` are SLS names and paths, ``without`` patterns of SLS names to leave out. ``machines`` has a
    session for each machine to check for; without it, the tree is checked for that of ``session``.
    """
    session.tree.check()
    for name, one in (machines or {"": session}).items():
        _prepare_for(name, one)
    options, limit = compiler_options(session, Request()), bounds(session).limit
    selection = select(session, words, without)
    some = machines or {"": session}
    walks = walk_tree([*some.values()], selection, options, limit, strangers=not machines)
    loaders = [walk.loader for walk in walks]
    pages = _pages(loaders[0], session, selection.refs)
    surveys = [walk.survey() for walk in walks]
    found = Findings()
    for problem in session.registry.plugin_problems():
        found.warn("plugin-conflict", problem)
    for rule in chosen_rules(choices):
        for walk, survey in zip(walks, surveys, strict=True):
            if rule.run is not None:
                for unit in walk.units:
                    rule.run(unit, walk.found)
            if rule.tree is not None:
                rule.tree(survey, walk.found)
        if rule.text is not None:
            for page in pages.values():
                rule.text(page, found)
    held = _problem_machines(dict(zip(some, walks, strict=True)))
    for walk in walks:
        found.take(walk.found)
    _add_edits(found, pages)
    wanted = _reported_problems(found, choices, loaders)
    problems = {masked_problem(_add_note(one, held.get(before, ()))): before for one, before in wanted}
    return Checked(
        problems=list(problems),
        edits={one: found.edits[before] for one, before in problems.items() if before in found.edits},
        files=len(pages),
        count=len(machines or ()),
        machines={one: held[before] for one, before in problems.items() if before in held},
    )


def _prepare_for(name: str, session: Session) -> None:
    """Name the machine whose pillar does not compile, in a check of several machines."""
    try:
        session.load_pillar()
    except PillarError as problem:
        if not name:
            raise
        whose = [replace(one, detail=f"on {name}\n{one.detail}") for one in problem.diagnostics]
        raise PillarError(*whose) from None


def _problem_machines(walks: Mapping[str, Walk]) -> dict[Diagnostic, tuple[str, ...]]:
    """The machines that have a problem, if not all of them have it."""
    held: dict[Diagnostic, list[str]] = {}
    for name, walk in walks.items():
        for problem in dict.fromkeys(walk.found):
            held.setdefault(problem, []).append(name)
    return {problem: tuple(names) for problem, names in held.items() if len(names) < len(walks)}


def _add_note(problem: Diagnostic, names: Sequence[str]) -> Diagnostic:
    if not names:
        return problem
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    note = f"on {', '.join(names[:MOST_NAMED])}{more}"
    return replace(problem, detail=f"{note}\n{problem.detail}".rstrip("\n"))


def _pages(loader: KeptLoader, session: Session, refs: Sequence[SlsRef]) -> dict[str, Page]:
    """The files as text, by path. Unreadable ones were reported before."""
    sources = [source for ref in refs if (source := loader.source_of(ref))]
    return {source.path: Page(source, session.settings.renderer) for source in sources}


def _add_edits(found: Findings, pages: dict[str, Page]) -> None:
    """Add edits for problems of the compiler that can be fixed automatically: a colon with nothing below
    it.
    """
    for problem in found:
        where = problem.where
        if problem.code != "short-form-colon" or where is None or where.file not in pages:
            continue
        page = pages[where.file]
        line = page.lines[where.line - 1]
        if colon := _COLON.fullmatch(line.text):
            found.edits[problem] = page.edit(line, *colon.span("rest"), " []" + colon["rest"])


def _reported_problems(
    found: Findings, choices: Choices, loaders: Sequence[KeptLoader]
) -> Iterator[tuple[Diagnostic, Diagnostic]]:
    """The problems to report, each once and sorted, with their original form."""
    reported = {(one.code, one.where.file, one.where.line) for one in found if one.where}
    ignored: dict[str, dict[int, list[str]]] = {}
    for problem in sorted(dict.fromkeys(found), key=_place):
        severity = choices.get(problem.code, problem.severity)
        where, cause = problem.where, _CAUSES.get(problem.code)
        if where is not None and where.file not in ignored:
            ignored[where.file] = _ignored_rules(where.file, loaders)
        follows = cause and where and (cause, where.file, where.line) in reported
        if severity is not None and not follows and not _is_ignored(problem, ignored):
            yield replace(problem, severity=severity), problem


def _ignored_rules(file: str, loaders: Sequence[KeptLoader]) -> dict[int, list[str]]:
    """The lines of a file with ``# saltern: ignore RULE``, and the rules that each names."""
    text = next((text for loader in loaders if (text := loader.text_of(file)) is not None), "")
    if "saltern: ignore" not in text:
        return {}
    found = ((at, _IGNORED.findall(line)) for at, line in enumerate(text.split("\n"), start=1))
    return {at: re.split(r"[ ,]+", " ".join(names)) for at, names in found if names}


def _is_ignored(problem: Diagnostic, ignored: Mapping[str, Mapping[int, Sequence[str]]]) -> bool:
    """True if a comment on its line, or on the line above, ignores the problem."""
    if problem.where is None:
        return False
    rules = ignored[problem.where.file]
    return any(problem.code in rules.get(problem.where.line - above, ()) for above in (0, 1))


def _place(problem: Diagnostic) -> tuple[str, int, int, str, str]:
    mark = problem.where
    return (
        (mark.file, mark.line, mark.column, problem.code, problem.what)
        if mark
        else ("", 0, 0, "", problem.what)
    )
