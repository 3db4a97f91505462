"""Writes a Report as JUnit XML: a suite for each SLS, a case for each state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TextIO

from saltern.language import secrets
from saltern.language.diagnostics import Diagnostic
from saltern.language.events import Answer, Report
from saltern.language.result import Outcome
from saltern.report.blocks import place
from saltern.report.causes import blocked, causes
from saltern.report.text import emit
from saltern.report.verdict import count

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions

# Characters that XML 1.0 cannot contain in any form, and C1 characters, which it should not contain.
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPECIAL = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
HEAD = '<?xml version="1.0" encoding="utf-8"?>'


def write(report: Report, out: TextIO, options: OutputOptions) -> None:
    emit(out, "\n".join(_document(_suites(report), report.took, options.label)))


def write_systems(reports: Mapping[str, Report | str], out: TextIO, options: OutputOptions) -> None:
    """Write runs of several systems as one document: a suite for each SLS of each. A text in place of a
    report is the reason why there is no run; it may be empty.
    """
    suites = [
        line
        for system, report in reports.items()
        for line in (_unrun(system, report) if isinstance(report, str) else _suites(report, system))
    ]
    took = max((one.took for one in reports.values() if isinstance(one, Report)), default=0.0)
    emit(out, "\n".join(_document(suites, took, options.label)))


def _document(suites: Iterable[str], took: float, label: str) -> Iterator[str]:
    yield HEAD
    yield f"<testsuites{attributes(name=label, time=f'{took:.6f}')}>"
    yield from suites
    yield "</testsuites>\n"


def _suites(report: Report, system: str = "") -> Iterator[str]:
    """A suite for each SLS; its name begins with that of the system, if there is one."""
    suites: dict[str, list[Answer]] = {}
    for answer in sorted(report.answers, key=lambda answer: answer.number):
        suites.setdefault(answer.chunk.sls, []).append(answer)
    for sls, answers in suites.items():
        yield from _suite(f"{system}: {sls or '-'}" if system else sls, answers, report.forgiven)


def _unrun(system: str, why: str) -> Iterator[str]:
    """The suite of a system without a run: one case, in error if there is a reason."""
    head = attributes(name=system, tests=1, failures=0, errors=int(bool(why)), skipped=0)
    yield f"  <testsuite{head}>"
    case = attributes(classname=system, name="job")
    yield f"    <testcase{case}>" if why else f"    <testcase{case}/>"
    if why:
        error = attributes(message=why.partition("\n")[0], type="job")
        yield f"      <error{error}>{escape(why)}</error>"
        yield "    </testcase>"
    yield "  </testsuite>"


def _suite(sls: str, answers: list[Answer], forgiven: frozenset[int]) -> Iterator[str]:
    cases = [(answer, *_verdict(answer, forgiven)) for answer in answers]
    kinds = [kind for _, kind, _ in cases]
    head = attributes(
        name=sls or "-",
        tests=len(cases),
        failures=kinds.count("failure"),
        errors=0,
        skipped=kinds.count("skipped"),
        time=f"{count(answers).took:.6f}",
    )
    yield f"  <testsuite{head}>"
    for answer, kind, text in cases:
        yield from _case(answer, kind, text)
    yield "  </testsuite>"


def _verdict(answer: Answer, forgiven: frozenset[int]) -> tuple[str, str]:
    """The element of the case and its text. A state whose cause is shown elsewhere is skipped."""
    result = answer.result
    if result.outcome is not Outcome.FAILED:
        return ("system-out" if result.ran else "skipped", result.comment)
    if answer.number in forgiven:
        return ("system-out", f"failed, but an onfail state has handled it\n{result.comment}")
    if blocked(answer) and causes(answer):
        return ("skipped", result.comment)
    return ("failure", f"{place(answer)}\n{result.comment}".strip("\n"))


def _case(answer: Answer, kind: str, text: str) -> Iterator[str]:
    chunk = answer.chunk
    title = answer.path if chunk.name == chunk.id else f"{answer.path} ({chunk.name})"
    head = attributes(classname=f"{chunk.sls or '-'}.{chunk.function}", name=title, time=f"{answer.took:.6f}")
    if not text and kind == "system-out":
        yield f"    <testcase{head}/>"
        return
    yield f"    <testcase{head}>"
    yield f"      {_element(kind, text, answer.result.comment)}"
    yield "    </testcase>"


def _element(kind: str, text: str, comment: str) -> str:
    if kind == "skipped":
        return f"<skipped{attributes(message=text)}/>"
    first = comment.strip().partition("\n")[0]
    head = attributes(message=first, type="failed") if kind == "failure" else ""
    return f"<{kind}{head}>{escape(text)}</{kind}>"


def write_problems(problems: Iterable[Diagnostic], out: TextIO, options: OutputOptions) -> None:
    """Write a compile failure: one suite with a case in error for each problem."""
    found = list(problems)
    head = attributes(name="compile", tests=len(found), failures=0, errors=len(found), skipped=0)
    lines = [HEAD, f"<testsuites{attributes(name=options.label)}>", f"  <testsuite{head}>"]
    for problem in found:
        lines += _problem(problem)
    emit(out, "\n".join([*lines, "  </testsuite>", "</testsuites>\n"]))


def _problem(problem: Diagnostic) -> Iterator[str]:
    from saltern.report.diagnostics import as_text

    title = str(problem.where) if problem.where else problem.code
    head = attributes(message=secrets.mask(problem.what), type=problem.code)
    yield f"    <testcase{attributes(classname='compile', name=title)}>"
    yield f"      <error{head}>{escape(as_text(problem))}</error>"
    yield "    </testcase>"


def attributes(**values: object) -> str:
    return "".join(f' {name}="{escape(str(value))}"' for name, value in values.items())


def escape(text: str) -> str:
    text = _FORBIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
    return text.translate(_SPECIAL)
