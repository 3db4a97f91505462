"""JUnit XML that every reader can parse."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from saltern.language.diagnostics import Diagnostic
from saltern.language.events import Report
from saltern.language.result import Outcome
from saltern.report.junit import write, write_problems
from saltern.report.outputs import OutputOptions

if TYPE_CHECKING:
    from tests.unit.report.conftest import Make

anything = st.text(st.characters(exclude_categories=()))


def parsed(report: Report) -> ElementTree.Element:
    out = io.StringIO()
    write(report, out, OutputOptions())
    return ElementTree.fromstring(out.getvalue().encode())


def test_a_suite_per_sls_and_a_case_per_state(make: Make) -> None:
    root = make("bad", Outcome.FAILED, "no\nway", sls="db", number=1, took=0.25)
    tree = parsed(
        Report(
            answers=[
                make("ok", name="/etc/x"),
                root,
                make("next", Outcome.FAILED, "cause: bad", sls="db", number=2, ran=False,
                     extra={"root_cause": [root.chunk.tag]}),
                make("skip", comment="unless", sls="db", number=3, ran=False),
                make("lost", Outcome.FAILED, sls="db", number=4, ran=False),
            ]
        )
    )  # fmt: skip
    web, db = tree
    assert (web.get("name"), web.get("tests"), web.get("failures")) == ("web", "1", "0")
    assert web[0].get("name") == "ok (/etc/x)"
    assert [db.get(key) for key in ("name", "tests", "failures", "skipped")] == ["db", "4", "2", "2"]
    assert [case[0].tag for case in db] == ["failure", "skipped", "skipped", "failure"]
    assert (db[0].get("classname"), db[0].get("time")) == ("db.file.managed", "0.250000")
    assert (db[0][0].get("message"), db[0][0].text) == ("no", "db.sls:14\nno\nway")


def test_a_forgiven_failure_is_no_failure(make: Make) -> None:
    answer = make("bad", Outcome.FAILED)
    (suite,) = parsed(Report(answers=[answer], forgiven=frozenset({answer.number})))
    assert suite.get("failures") == "0"


@given(anything, st.sampled_from(Outcome), st.booleans())
def test_any_text_is_valid_xml(make: Make, text: str, outcome: Outcome, ran: bool) -> None:
    answer = make(text or "x", outcome, text, name=text, sls=text, function=f"a.{text}", ran=ran)
    ((case,),) = parsed(Report(answers=[answer]))
    assert case.tag == "testcase"


@given(anything)
def test_problems_are_errors_whatever_their_text(text: str) -> None:
    out = io.StringIO()
    write_problems([Diagnostic(code="c", what=text)], out, OutputOptions())
    ((case,),) = ElementTree.fromstring(out.getvalue().encode())
    assert case[0].tag == "error"
