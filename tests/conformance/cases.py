"""Reads a ``.case`` file, runs it within this process, and says where it differs from what it expects.

A case is a sentence, then sections. ``-- web.sls --`` is a state file, ``-- dev=web.sls --`` one of the
environment dev; ``-- pillar/… --`` and ``-- scratch/… --`` are files of those directories (the pillar value
``scratch`` is that directory). ``-- config --``, ``-- grains --``, ``-- pillar --`` and ``-- options --`` are
YAML; the options are those of a request, and test, detailed, twice.

What is expected: ``-- expect --`` one line for each answer, in order; ``-- errors --`` and ``-- warnings --``
one line for each problem (place, code, a piece of the text; two spaces between them); ``-- comments --``
lines of ``id: piece of the comment``; ``-- low --``, ``-- high --``, ``-- top --`` the whole data as YAML;
``-- order --`` the sequence as IDs; ``-- files --`` what is left in scratch; ``-- events --`` the tags fired;
``-- exit --`` the exit code. Warnings that are not expected are a difference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import yaml
from tests import kit

from saltern.engine.show import show_high, show_low, show_order, show_top
from saltern.language.diagnostics import Diagnostics, SalternError
from saltern.language.events import Answer, Fired
from saltern.language.result import Outcome

TITLE = re.compile(r"^-- (.+) --$")
DATA = ("config", "grains", "pillar", "options")
EXPECTED = (
    "expect",
    "errors",
    "warnings",
    "comments",
    "low",
    "high",
    "top",
    "order",
    "files",
    "events",
    "exit",
)
WORDS = {Outcome.OK: "ok", Outcome.FAILED: "failed", Outcome.WOULD_CHANGE: "would"}

# A piece of the comment of a state that did not run, and the word for it.
REASONS = {
    "requisite failed": "requisite",
    "in onchanges changed": "onchanges",
    "in onfail failed": "onfail",
    "No changes detected": "prereq",
    "not run (failhard)": "failhard",
    "is disabled on this machine": "disabled",
    "onlyif condition is false": "onlyif",
    "unless condition is true": "unless",
    "All files in creates exist": "creates",
    " exists": "creates",
    "global_state_conditions": "condition",
}
REACTED = "Watch statement fired."


class Case:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.about, self.sections = read(path.read_text(encoding="utf-8"))
        self.files = {name: text for name, text in self.sections.items() if name not in (*DATA, *EXPECTED)}
        self.options = self.mapping("options")

    def data(self, section: str) -> object:
        return yaml.safe_load(self.sections[section]) if section in self.sections else None

    def mapping(self, section: str) -> dict[str, object]:
        data = self.data(section) or {}
        assert isinstance(data, dict), f"{section} is a mapping"
        return data

    def lines(self, section: str) -> list[str]:
        return [
            " ".join(line.split()) for line in self.sections.get(section, "").splitlines() if line.strip()
        ]


def read(text: str) -> tuple[str, dict[str, str]]:
    """The sentence, and the sections by their titles."""
    about: list[str] = []
    sections: dict[str, list[str]] = {}
    into = about
    for line in text.splitlines():
        if found := TITLE.match(line):
            assert found[1] not in sections, f"section {found[1]!r} stands there twice"
            into = sections[found[1]] = []
        else:
            into.append(line)
    return " ".join(" ".join(about).split()), {
        name: "\n".join(lines) + "\n" for name, lines in sections.items()
    }


def differences(case: Case) -> list[str]:
    """Where the engine differs from the case; empty if nowhere."""
    options = {name: case.data(name) for name in ("config", "grains", "pillar")}
    with kit.tree(case.files, **options) as made:
        found: list[str] = []
        if not case.sections.keys().isdisjoint(RUNS):
            asked = {
                key: value for key, value in case.options.items() if key not in ("test", "detailed", "twice")
            }
            request = kit.request_for(case.files, asked)
            modes = {key: bool(case.options.get(key)) for key in ("test", "detailed")}
            for _ in range(2 if case.options.get("twice") else 1):
                outcome = kit.attempt(made, request, **modes)
            for section, compare in RUNS.items():
                if section in case.sections or section == "warnings":
                    found += compare(case, outcome, made)
            if outcome.texts and "errors" not in case.sections:
                found += outcome.texts
        for section, show in SHOWN.items():
            if section in case.sections:
                found += _data(section, case.data(section), _shown(case, made, show))
    return found


# -- runs ----------------------------------------------------------------------------------------


def line(answer: Answer) -> str:
    """An answer as a case writes it."""
    chunk, result = answer.chunk, answer.result
    name = chunk.id if chunk.name == chunk.id else f"{chunk.id} as {chunk.name}"
    words = [WORDS[result.outcome], chunk.function, name]
    if result.changed:
        words.append("changed")
    if result.comment == REACTED and chunk.fun != "mod_watch":
        words.append("(watch)")
    if not result.ran or result.quiet or result.outcome is Outcome.WOULD_CHANGE:
        reason = next((word for piece, word in REASONS.items() if piece in result.comment), "")
        if reason or not result.ran:
            words.append(f"(not run: {reason or result.comment})")
    return " ".join(words)


def _expect(case: Case, outcome: kit.Outcome, made: kit.Tree) -> list[str]:
    if outcome.report is None:
        return []
    numbers = [answer.number for answer in outcome.answers]
    found = [] if numbers == list(range(len(numbers))) else [f"numbers: {numbers}"]
    got = [" ".join(line(one).replace(made.scratch, "<scratch>").split()) for one in outcome.answers]
    return found + _texts("expect", case.lines("expect"), got)


def _errors(case: Case, outcome: kit.Outcome, _: kit.Tree) -> list[str]:
    return _problems("errors", case, outcome.texts)


def _warnings(case: Case, outcome: kit.Outcome, _: kit.Tree) -> list[str]:
    return _problems("warnings", case, outcome.warnings) if outcome.report is not None else []


def _problems(section: str, case: Case, got: list[str]) -> list[str]:
    wanted = [one for one in case.sections.get(section, "").splitlines() if one.strip()]
    left = list(got)
    missing = []
    for row in wanted:
        place, code, *pieces = re.split(r"\s{2,}", row.strip())
        fits = (one for one in left if _fits(one, place, code, pieces))
        if (match := next(fits, None)) is None:
            missing.append(f"{section}: missing {row}")
        else:
            left.remove(match)
    return missing + [f"{section}: not expected: {one}" for one in left]


def _fits(text: str, place: str, code: str, pieces: list[str]) -> bool:
    there = text.startswith(f"{place}: ") if place != "-" else True
    return there and f"[{code}]" in text and all(piece in text for piece in pieces)


def _comments(case: Case, outcome: kit.Outcome, _: kit.Tree) -> list[str]:
    found: list[str] = []
    told: dict[str, str] = {}
    for answer in outcome.answers:
        told[answer.chunk.id] = told.get(answer.chunk.id, "") + answer.result.comment + "\n"
    for row in case.lines("comments"):
        id_, _colon, piece = row.partition(": ")
        if piece not in " ".join(told.get(id_, "").split()):
            found.append(f"comments: {id_} says {told.get(id_)!r}, without {piece!r}")
    return found


def _exit(case: Case, outcome: kit.Outcome, _: kit.Tree) -> list[str]:
    return _data("exit", case.data("exit"), outcome.code)


def _files(case: Case, _: kit.Outcome, made: kit.Tree) -> list[str]:
    left: dict[str, object] = {}
    for base, _folders, names in os.walk(made.scratch):
        for name in names:
            path = os.path.join(base, name)
            with open(path, encoding="utf-8") as file:
                left[os.path.relpath(path, made.scratch)] = file.read().rstrip("\n")
    return _data("files", case.data("files") or {}, left)


def _events(case: Case, outcome: kit.Outcome, _: kit.Tree) -> list[str]:
    return _texts(
        "events", case.lines("events"), [one.tag for one in outcome.events if isinstance(one, Fired)]
    )


Compare = Callable[[Case, kit.Outcome, kit.Tree], list[str]]
RUNS: dict[str, Compare] = {
    "expect": _expect,
    "errors": _errors,
    "warnings": _warnings,
    "comments": _comments,
    "exit": _exit,
    "files": _files,
    "events": _events,
}


# -- data ----------------------------------------------------------------------------------------

Show = Callable[..., object]


def _ids(*args: object) -> object:
    return [row["id"] for row in show_order(*args)]  # type: ignore[arg-type]


SHOWN: dict[str, Show] = {"low": show_low, "high": show_high, "top": show_top, "order": _ids}


def _shown(case: Case, made: kit.Tree, show: Show) -> object:
    found = Diagnostics()
    try:
        value = show(made.session(), kit.request_for(case.files, case.options), found)
        found.check()
        return value
    except SalternError as problem:
        return [made.short(one) for one in problem.diagnostics]


def _data(section: str, wanted: object, got: object) -> list[str]:
    return [] if wanted == got else [f"{section}: wanted {wanted!r}", f"{section}: got    {got!r}"]


def _texts(section: str, wanted: list[str], got: list[str]) -> list[str]:
    if wanted == got:
        return []
    return [
        f"{section}: wanted",
        *(f"  {one}" for one in wanted),
        f"{section}: got",
        *(f"  {one}" for one in got),
    ]
