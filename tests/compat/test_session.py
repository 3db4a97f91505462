"""Salt-style modules through a plain session, as ``saltern apply`` makes it."""

from __future__ import annotations

from tests.kit import run_sls

from saltern.language.result import Outcome

FILES = {
    "_states/mine.py": "def done(name, colour):\n"
    "    told = colour + str(len(__running__))\n"
    "    return dict(name=name, result=True, changes={'a': __salt__['mine.f']()}, comment=told)\n",
    "_modules/mine.py": "def f():\n    return 'f'\n",
    "_grains/colour.py": "def colour():\n    return {'colour': 'red', 'os': 'Plan 9', 'id': 'never'}\n",
    "_renderers/twice.py": "def render(data, saltenv='base', sls='', **kw):\n"
    "    return data + data.replace('a:', 'b:')\n",
    "_pillar/more.py": "def ext_pillar(minion_id, pillar, arg):\n    return {'arg': [arg, minion_id]}\n",
    "main.sls": "#!twice|jinja|yaml\n\na:\n  mine.done:\n"
    "    - colour: {{ grains['colour'] }}{{ grains['os'] }}{{ pillar['arg'][0] }}{{ salt['mine.f']() }}\n",
}


def test_everything_in_the_roots_is_found_and_used() -> None:
    report = run_sls(FILES, config={"extra": {"ext_pillar": [{"more": "x"}]}})
    assert [(one.chunk.id, one.result.comment, one.result.changes) for one in report.answers] == [
        ("a", "redPlan 9xf0", {"a": "f"}),
        ("b", "redPlan 9xf1", {"a": "f"}),
    ]


def test_a_renderer_that_fails_is_a_problem_with_a_place() -> None:
    from tests.kit import errors

    files = {
        "_renderers/bad.py": "def render(data, *args, **kw):\n    return 1 / 0\n",
        "main.sls": "#!bad\na: {}\n",
    }
    assert "the renderer 'bad' failed: ZeroDivisionError" in errors(files)[0]


def test_a_state_that_nobody_has_is_reported_as_before() -> None:
    (answer,) = run_sls({"main.sls": "a:\n  saltern_t_none.present: []\n"}).answers
    assert answer.result.outcome is Outcome.FAILED
    assert "no state module is called 'saltern_t_none'" in answer.result.comment
