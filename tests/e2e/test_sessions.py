"""Two runs in one process share nothing; secrets stay where they are."""

from __future__ import annotations

import pytest
from tests.e2e.command import Place, is_told_well

from saltern.config.settings import Settings
from saltern.engine.apply import apply
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.engine.show import show_low
from saltern.language.diagnostics import Diagnostics

SHARED = {
    "main.sls": "{% import 'lib.jinja' as lib %}\n{% from 'map.jinja' import data with context %}\n"
    "{% do data.append(pillar.word) %}\n{{ lib.word() }}-{{ data | join('+') }}-{{ grains.colour }}:\n"
    "  test.configurable_test_state:\n    - changes: false\n    - result: true\n"
    "    - comment: {{ salt['pillar.get']('word') }}\n",
    "lib.jinja": "{% macro word() %}{{ salt['pillar.get']('word') }}{% endmacro %}\n",
    "map.jinja": "{% set data = ['start'] %}\n",
}


def _session(place: Place, word: str) -> Session:
    settings = Settings(
        id=f"machine-{word}",
        file_roots={"base": [str(place.states)]},
        pillar_roots={"base": [str(place.base / "none")]},
        grains_file="/dev/null",
        cachedir=str(place.base / "cache"),
    )
    return Session(
        settings, grains={"colour": f"colour-{word}"}, pillar={"word": word, "nested": {"list": [word]}}
    )


def _ids(session: Session) -> list[object]:
    found = Diagnostics()
    low = show_low(session, Request(sls=("main",)), found)
    found.check()
    return [chunk["__id__"] for chunk in low]


def test_two_sessions_with_the_same_templates_see_their_own_data(place: Place) -> None:
    place.write(SHARED)
    one, two = _session(place, "one"), _session(place, "two")
    for _ in range(2):
        assert _ids(one) == ["one-start+one-colour-one"]
        assert _ids(two) == ["two-start+two-colour-two"]
    reports = [apply(session, Request(sls=("main",))) for session in (one, two, one)]
    assert [report.answers[0].result.comment for report in reports] == ["one", "two", "one"]


def test_what_a_template_changes_in_its_pillar_stays_in_its_session(place: Place) -> None:
    place.write(
        {
            "main.sls": "{% do pillar.nested.list.append('more') %}\n"
            "{{ pillar.nested.list | join('-') }}: test.nop\n"
        }
    )
    one, two = _session(place, "one"), _session(place, "two")
    assert _ids(one) == ["one-more"]
    assert _ids(two) == ["two-more"]


def test_grains_set_in_one_session_are_not_in_the_other(place: Place) -> None:
    place.write(SHARED)
    one, two = _session(place, "one"), _session(place, "two")
    assert one.grains is not two.grains
    assert one.pillar is not two.pillar
    assert one.run is not two.run
    assert one.opts is not two.opts
    one.pillar["extra"] = 1
    one.opts["extra"] = 1
    assert "extra" not in two.pillar
    assert "extra" not in two.opts
    assert (one.subject().id, two.subject().id) == ("machine-one", "machine-two")


# -- secrets ------------------------------------------------------------------------------------------

SECRET = "sw0rdf1sh"


@pytest.mark.parametrize("out", ["highstate", "json", "jsonl", "yaml", "junit", "nested", "pprint"])
@pytest.mark.parametrize("test", [False, True], ids=["apply", "test"])
def test_no_log_shows_neither_comment_nor_changes_in_any_format(place: Place, out: str, test: bool) -> None:
    target = place.base / "secret"
    place.write(
        {
            "main.sls": f"a:\n  cmd.run:\n    - name: echo $WORD\n    - env: [WORD: {SECRET}]\n"
            f"    - no_log: true\n"
            f"b:\n  file.managed:\n    - name: {target}\n    - contents: {SECRET}\n    - no_log: true\n"
            f"c:\n  test.configurable_test_state:\n    - result: false\n    - comment: {SECRET}\n"
            f"    - no_log: true\n"
            f"d:\n  cmd.run:\n    - name: printf {SECRET[:4]}; printf {SECRET[4:]}; exit 1\n"
            f"    - no_log: true\n    - parallel: true\n"
        }
    )
    done = place.run("apply", "main", "--out", out, "--expand", *(["--test"] if test else []))
    is_told_well(done)
    assert SECRET not in done.out + done.err


def test_a_pillar_of_the_command_line_is_not_quoted_in_problems(place: Place) -> None:
    place.write(
        {"main.sls": "a:\n  {{ pillar.nosuch }}\n", "b.sls": "{{ pillar.password.nosuch }}: test.nop\n"}
    )
    for name in ("main", "b"):
        done = place.run("apply", name, "--pillar", f"{{password: {SECRET}}}")
        is_told_well(done)
        assert done.code == 3
        assert SECRET not in done.out + done.err
    for wrong in (f"{{password: {SECRET}", f"[{SECRET}]", f"{{password: {SECRET}, password: {SECRET}}}"):
        done = place.run("apply", "main", "--pillar", wrong)
        assert done.code == 1
        assert SECRET not in done.out + done.err
