"""Report → JUnit XML: a suite for each SLS, a case for each state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from saltern.language.diagnostics import Diagnostic
from saltern.language.events import Answer, Report
from saltern.language.result import Outcome
from saltern.report.blocks import place
from saltern.report.causes import blocked, causes
from saltern.report.text import emit
from saltern.report.verdict import count

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions

# Everything XML 1.0 cannot hold in any form, and C1, which it had better not hold.
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPECIAL = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
HEAD = '<?xml version="1.0" encoding="utf-8"?>'


def write(report: Report, out: TextIO, options: OutputOptions) -> None:
    suites: dict[str, list[Answer]] = {}
    for answer in sorted(report.answers, key=lambda answer: answer.number):
        suites.setdefault(answer.chunk.sls, []).append(answer)
    emit(out, "\n".join(_document(suites, report, options.label)))


def _document(suites: dict[str, list[Answer]], report: Report, label: str) -> Iterator[str]:
    yield HEAD
    yield f"<testsuites{_attributes(name=label, time=f'{report.took:.6f}')}>"
    for sls, answers in suites.items():
        yield from _suite(sls, answers, report.forgiven)
    yield "</testsuites>\n"


def _suite(sls: str, answers: list[Answer], forgiven: frozenset[int]) -> Iterator[str]:
    cases = [(answer, *_verdict(answer, forgiven)) for answer in answers]
    kinds = [kind for _, kind, _ in cases]
    head = _attributes(
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
    """Which element the case holds, and what it says. A state whose cause is shown elsewhere is skipped."""
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
    head = _attributes(
        classname=f"{chunk.sls or '-'}.{chunk.function}", name=title, time=f"{answer.took:.6f}"
    )
    if not text and kind == "system-out":
        yield f"    <testcase{head}/>"
        return
    yield f"    <testcase{head}>"
    yield f"      {_element(kind, text, answer.result.comment)}"
    yield "    </testcase>"


def _element(kind: str, text: str, comment: str) -> str:
    if kind == "skipped":
        return f"<skipped{_attributes(message=text)}/>"
    first = comment.strip().partition("\n")[0]
    head = _attributes(message=first, type="failed") if kind == "failure" else ""
    return f"<{kind}{head}>{_escape(text)}</{kind}>"


def write_problems(problems: Iterable[Diagnostic], out: TextIO, options: OutputOptions) -> None:
    """A compile failure: one suite, and in it a case in error for each problem."""
    found = list(problems)
    head = _attributes(name="compile", tests=len(found), failures=0, errors=len(found), skipped=0)
    lines = [HEAD, f"<testsuites{_attributes(name=options.label)}>", f"  <testsuite{head}>"]
    for problem in found:
        lines += _problem(problem)
    emit(out, "\n".join([*lines, "  </testsuite>", "</testsuites>\n"]))


def _problem(problem: Diagnostic) -> Iterator[str]:
    from saltern.report.diagnostics import as_text

    title = str(problem.where) if problem.where else problem.code
    head = _attributes(message=problem.what, type=problem.code)
    yield f"    <testcase{_attributes(classname='compile', name=title)}>"
    yield f"      <error{head}>{_escape(as_text(problem))}</error>"
    yield "    </testcase>"


def _attributes(**values: object) -> str:
    return "".join(f' {name}="{_escape(str(value))}"' for name, value in values.items())


def _escape(text: str) -> str:
    text = _FORBIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
    return text.translate(_SPECIAL)
