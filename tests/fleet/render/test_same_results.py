"""Rendered elsewhere or here: the same states in the same order, with the same numbers, lines and journal."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests import kit
from tests.property.delayed_trees import trees, written
from tests.property.naive_delayed import Tree
from tests.property.recording import Recording

from saltern.engine.controller_files import ControllerFiles
from saltern.engine.session import Session
from saltern.fleet.render.task import SESSION, RenderTask, RunOptions, RunRenderers
from saltern.render.blocks import sls_words
from saltern.render.remote import Question
from saltern.sources.stub import stub_text

usual = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Controller:
    """What a controller and an agent do with a question, in this process. ``forgets``: the process that
    renders is another one for each question, so that all it knows of earlier ones is what was kept."""

    def __init__(self, made: kit.Tree, *, forgets: bool) -> None:
        self._made = made
        self._forgets = forgets
        self._runs = RunRenderers()
        self._scopes: dict[str, bytes] = {}
        self.asked: list[Question] = []

    def ask(self, path: str, question: dict[str, Any], *, wait: float) -> dict[str, Any]:
        data = base64.b64decode(question["question"])
        self.asked.append(msgspec.msgpack.decode(data, type=Question))
        runs = RunRenderers() if self._forgets else self._runs
        name = secrets.token_hex(8)
        task = RenderTask(key="run", question=data, name=name)
        result = runs.answer(task)
        if result.lacks == SESSION:
            task = msgspec.structs.replace(task, run=self._options(), scopes=self._scopes)
            result = runs.answer(task)
        assert not result.lacks
        if result.refused:
            return {"problem": result.refused}
        if result.scope:
            self._scopes[name] = result.scope
        return {"sent": base64.b64encode(result.sent).decode()}

    def _options(self) -> RunOptions:
        settings_ = self._made.session().settings
        options = {name: getattr(settings_, name) for name in ("file_roots", "pillar_roots", "cachedir")}
        return RunOptions(key="run", id="here", overrides=self._made._pillar, options=options)


class StubTree(kit.Tree):
    """A tree on an agent: of some files it has stubs."""

    controller: Controller

    def session(self, *, test: bool = False) -> Session:
        made = super().session(test=test)
        made.renderers.remote = ControllerFiles(made.settings, self.controller.ask)
        return made


def stubs(files: Mapping[str, str], hidden: set[str]) -> dict[str, str]:
    return {
        name: stub_text(secrets.token_hex(16), _tag(text)) if name in hidden else text
        for name, text in files.items()
    }


def _tag(text: str) -> str:
    words = sls_words(text, "")
    number = words.limit if isinstance(words.limit, int) else None
    limit = "" if words.limit is None else f"delayed_repeat_limit={number}"
    return " ".join(part for part in ("scoped" if words.scoped else "", limit) if part)


def seen(outcome: kit.Outcome, place: str) -> object:
    """All that a user sees of a run, but for the texts of problems."""

    def short(text: object) -> str:
        return str(text).replace(place, "")

    if outcome.report is None:
        return sorted((one.code, short(one.where)) for one in outcome.problems)
    report = outcome.report
    rows = [
        (
            *(one.frame, short(one.tag), one.number, one.result.outcome, one.result.ran, one.result.changes),
            *(one.result.data, short(one.parent), one.under, one.depth, one.chunk.args, one.chunk.name),
            short(one.chunk.mark()),
        )
        for one in report.answers
    ]
    frames = [
        (one.path, one.kind, one.name, short(one.where), one.depth, one.caller, one.first, one.states)
        for one in report.frames
    ]
    unused = sorted(
        (short(block.definition[0]), *block.definition[1:], block.line) for block in report.unused
    )
    return rows, frames, unused, report.stopped


def attempted(
    files: Mapping[str, str], hidden: set[str], config: Mapping[str, object], *, test: bool, forgets: bool
) -> tuple[object, list[Question]]:
    """What is seen of a run whose ``hidden`` files are rendered elsewhere; and what was asked for."""
    options: dict[str, Any] = {"registry": Recording().registry, "config": config}
    request = kit.request_for(files, {"sls": ("main",)})
    with kit.tree(files) as whole, TemporaryDirectory(prefix="saltern-test-") as place:
        made = StubTree(stubs(files, hidden), place, **options)
        made.controller = Controller(whole, forgets=forgets)
        return seen(kit.attempt(made, request, test=test), place), made.controller.asked


@usual
@given(trees(), st.data(), st.booleans())
def test_a_run_is_the_same_wherever_its_files_are_rendered(
    tree: Tree, data: st.DataObject, forgets: bool
) -> None:
    config = {
        "delayed_repeat_limit": tree.limit,
        "delayed_max_depth": tree.depth,
        "delayed_max_frames": tree.frames,
        "failhard": tree.failhard,
    }
    files = written(tree)
    hidden = data.draw(st.sets(st.sampled_from(sorted(files)), min_size=1))
    here, none = attempted(files, set(), config, test=tree.test, forgets=False)
    there, asked = attempted(files, hidden, config, test=tree.test, forgets=forgets)
    event(f"{min(len(asked), 4)} questions or more")
    assert none == []
    assert there == here


CALL = "caller:\n  rec.changes:\n    - delayed_render:\n"
CASES: dict[str, dict[str, str]] = {
    "scoped variables, macros and imports": {
        "map.jinja": "{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}\n{% set size = 3 %}\n",
        "main.sls": "{% from 'map.jinja' import twice, size with context %}\n{% set own = [1, {'a': 2}] %}\n"
        + CALL
        + "      - block: B\n        context: {zone: north}\n{% set late = 'set after' %}\n"
        "#!delayed_block B scoped\nb:\n  rec.fine:\n"
        "    - seen: {{ [twice('x'), size, own, late, zone, prev_ret.__id__] | tojson }}\n"
        "    - delayed_render: [{block: C}]\n{% set inner = 5 %}\n"
        "#!delayed_block C scoped\nc:\n  rec.fine:\n    - seen: {{ [own, late, zone, inner] | tojson }}\n"
        "#!end_delayed_block\n#!end_delayed_block B\n",
    },
    "an SLS that is called, with scope": {
        "main.sls": "{% set own = 'outer' %}\n"
        + CALL
        + "      - sls: other\n        context: {zone: south}\n",
        "other.sls": "#!delayed_sls scoped delayed_repeat_limit=2\no:\n  rec.fine:\n"
        "    - seen: {{ [own, zone, prev_ret.name, sls, tplfile] | tojson }}\n",
    },
    "files that include each other": {
        "main.sls": "include:\n  - p1\n" + CALL + "      - block: B\n    - require:\n      - rec: one\n"
        "#!delayed_block B\ninclude:\n  - p2\nb:\n  rec.fine:\n    - require:\n      - rec: two\n"
        "#!end_delayed_block\n",
        "p1.sls": "one:\n  rec.changes\nextend: {}\n",
        "p2.sls": "two:\n  rec.fine:\n    - seen: {{ prev_ret.__id__ if prev_ret is defined else 'no' }}\n",
    },
    "an undefined name, and YAML that is none": {
        "main.sls": CALL + "      - block: A\n      - block: B\n"
        "#!delayed_block A\na:\n  rec.fine:\n    - seen: {{ missing }}\n#!end_delayed_block\n"
        "#!delayed_block B\nb: [\n#!end_delayed_block\n",
    },
    "an error in the file itself": {"main.sls": "a:\n  rec.fine:\n    - seen: {{ missing }}\n"},
    "a requisite that leads nowhere": {
        "main.sls": "a:\n  rec.fine\nb:\n  rec.fine:\n    - require:\n      - rec: nothing\n"
    },
    "a block that is not there": {"main.sls": CALL + "      - block: nothing\n"},
    "a name in another scope": {
        "main.sls": CALL
        + "      - block: A\n#!delayed_block A\na:\n  rec.fine:\n    - require: [{rec: caller}]\n"
        "#!end_delayed_block\n",
    },
    "blocks of a template that is included": {
        "part.jinja": "#!delayed_block P\np:\n  rec.fine:\n"
        "    - seen: {{ prev_ret.__id__ }}\n#!end_delayed_block\n",
        "main.sls": CALL + "      - block: P\n{% include 'part.jinja' %}\n",
    },
    "a block that is only imported": {
        "part.jinja": "{% set x = 1 %}\n#!delayed_block P\np:\n  rec.fine\n#!end_delayed_block\n",
        "main.sls": "{% import 'part.jinja' as part %}\n" + CALL + "      - block: P\n",
    },
    "Python": {
        "main.sls": "#!py\n@delayed_block('P')\ndef later(prev_ret):\n"
        "    return {'p': {'rec.fine': [{'seen': prev_ret['__id__']}]}}\n\n\ndef run():\n"
        "    return {'caller': {'rec.changes': [{'delayed_render': [{'block': 'P'}]}]}}\n",
    },
    "a return that looks like a slot": {
        "main.sls": "caller:\n  rec.changes:\n    - name: __slot__:salt:test.echo(x)\n    - delayed_render:\n"
        "      - block: A\n#!delayed_block A\na:\n  rec.fine:\n    - seen: {{ prev_ret.name | tojson }}\n"
        "    - other: __slot__:salt:test.echo(fine)\n#!end_delayed_block\n",
    },
    "names, parallel callers and the limit": {
        "main.sls": "caller:\n  rec.changes:\n    - names: [one, two, three]\n    - delayed_render:\n"
        "      - block: A\n        when: changes\n#!delayed_block A delayed_repeat_limit=2\n"
        "{{ prev_ret.name }}:\n  rec.fine\n#!end_delayed_block\n",
    },
    "keys that are no text, dates and long texts": {
        "main.sls": "a:\n  rec.fine:\n    - 1: x\n    - true: y\n    - day: 2024-01-02\n"
        "    - long: |\n        é\n        z\n"
        "    - deep: {a: [{b: {c: [1, 2.5, null]}}]}\n",
    },
    "registers": {
        "main.sls": "caller:\n  rec.changes:\n    - register: it\n"
        "    - delayed_render: [{block: A}]\nb:\n  rec.fine:\n"
        "    - seen: ${it.result}\n#!delayed_block A\na:\n  rec.fine\n#!end_delayed_block\n",
    },
}


@pytest.mark.parametrize("forgets", [False, True], ids=["kept", "anew"])
@pytest.mark.parametrize("case", CASES)
def test_a_case_is_the_same_wherever_it_is_rendered(case: str, forgets: bool) -> None:
    files = CASES[case]
    states = [name for name in files if name.endswith(".sls")]
    here, _ = attempted(files, set(), {}, test=False, forgets=False)
    for hidden in ({*files}, {"main.sls"}, {*states[1:]}):
        there, asked = attempted(files, hidden, {}, test=False, forgets=forgets)
        assert bool(asked) == bool(hidden & {*states})
        assert there == here, hidden
