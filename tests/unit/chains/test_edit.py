"""A chain file changed by one action at a time: the data is changed so, and the rest of the text is not."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from saltern.chains import edit
from saltern.chains.edit import Place
from saltern.chains.outline import outline
from saltern.chains.schema import kind_schemas, policy_fields
from saltern.language.diagnostics import OperationError

TEXT = """\
# of the web team
chain: os-patch
description: Patch it.
actions:
  # before all
  - id: drain
    command:
      run: lbctl drain
  - id: patch
    patch: {refresh: true}

  - id: reboot
    reboot:
      when: needed
      return_deadline: 60m
  # then the site
  - id: web
    state: web
# the end
finally:
  - id: note
    command: logger it has ended
"""
bodies = st.sampled_from(
    (
        {"command": "true"},
        {"command": {"run": "a: b # c", "env": {"A": "1"}}},
        {"state": ["a", "b"]},
        {"wait": 3},
        {"reboot": {"when": "needed"}},
        {"file": {"path": "/a", "contents": "two\nlines\n"}},
    )
)
ids = st.text("abcdefgh", min_size=1, max_size=4)
actions = st.builds(lambda name, body: {"id": name, **body}, ids, bodies)
comments = st.sampled_from(("", "  # about it\n", "\n", "\n  # one\n  # two\n"))


class _Plain(yaml.SafeDumper):
    """Without anchors: the parts of a file are written one by one, and would have the same ones twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _dumped(data: object, **how: Any) -> str:
    return str(yaml.dump(data, Dumper=_Plain, **how))


@st.composite
def chains(draw: st.DrawFn) -> str:
    """A chain with comments and blank lines between its actions, in block or in flow style."""
    lists = {
        "actions": draw(st.lists(actions, min_size=1, max_size=5)),
        "finally": draw(st.lists(actions, max_size=2)),
    }
    parts = ["chain: c\n"]
    for key, items in lists.items():
        if not items:
            continue
        if draw(st.booleans()):
            parts.append(f"{key}: {_dumped(items, default_flow_style=True, width=9999).strip()}\n")
            continue
        parts.append(f"{key}:\n")
        indent = draw(st.sampled_from(("", "  ")))
        for item in items:
            dumped = _dumped(item, sort_keys=False).splitlines()
            parts.append(draw(comments))
            parts.append(
                "\n".join([f"{indent}- {dumped[0]}", *(f"{indent}  {line}" for line in dumped[1:])]) + "\n"
            )
    return "".join(parts)


def lists(text: str) -> dict[str, list[Any]]:
    data = yaml.safe_load(text)
    return {key: list(data.get(key) or []) for key in edit.LISTS}


@given(text=chains(), data=st.data())
def test_an_edit_of_the_text_is_the_same_edit_of_the_data(text: str, data: st.DataObject) -> None:
    before = lists(text)
    key = data.draw(st.sampled_from([one for one in edit.LISTS if before[one]]))
    index = data.draw(st.integers(0, len(before[key]) - 1))
    at = Place(list=key, index=index)  # type: ignore[arg-type]
    new = data.draw(actions)
    mine = before[key]
    assert lists(edit.set_action(text, at, new))[key] == [*mine[:index], new, *mine[index + 1 :]]
    assert lists(edit.add_action(text, at, new))[key] == [*mine[:index], new, *mine[index:]]
    if len(mine) > 1:
        assert lists(edit.remove_action(text, at))[key] == [*mine[:index], *mine[index + 1 :]]
    to = data.draw(st.integers(0, len(mine) - 1))
    rest = [*mine[:index], *mine[index + 1 :]]
    moved = edit.move_action(text, at, Place(list=key, index=to))  # type: ignore[arg-type]
    assert lists(moved)[key] == [*rest[:to], mine[index], *rest[to:]]


@given(text=chains(), data=st.data())
def test_a_move_and_its_opposite_leave_the_text_as_it_was(text: str, data: st.DataObject) -> None:
    spans = edit.spans_of(text, "actions")
    if spans is None:
        return
    at, to = (data.draw(st.integers(0, len(spans) - 1)) for _ in range(2))
    there = edit.move_action(text, Place(index=at), Place(index=to))
    assert sorted(there.splitlines()) == sorted(text.splitlines())
    assert lists(edit.move_action(there, Place(index=to), Place(index=at))) == lists(text)


@given(text=st.text(max_size=60), index=st.integers(-2, 3))
def test_a_text_that_is_no_chain_is_refused_or_changed_and_never_breaks(text: str, index: int) -> None:
    assert outline(text).problems or outline(text).actions
    for work in (edit.remove_action, edit.copy_action):
        with pytest.raises(OperationError):
            work(text, Place(index=index))


def test_comments_stay_with_their_action() -> None:
    moved = edit.move_action(TEXT, Place(index=3), Place(index=0))
    assert (
        "actions:\n  # then the site\n  - id: web\n    state: web\n  # before all\n  - id: drain\n" in moved
    )
    assert moved.endswith(TEXT[TEXT.index("# the end") :])


def test_an_action_can_become_one_of_the_end() -> None:
    found = lists(edit.move_action(TEXT, Place(index=3), Place(list="finally", index=0)))
    assert [one["id"] for one in found["finally"]] == ["web", "note"]


def test_a_copy_has_an_id_of_its_own() -> None:
    twice = edit.copy_action(edit.copy_action(TEXT, Place(index=1)), Place(index=2))
    assert [one["id"] for one in lists(twice)["actions"]][1:4] == ["patch", "patch-2", "patch-3"]


def test_the_head_is_changed_in_its_line() -> None:
    found = edit.set_head(TEXT, {"chain": "os-update", "description": "Two: words"})
    assert found == TEXT.replace("os-patch", "os-update").replace("Patch it.", "'Two: words'")
    assert edit.set_head(TEXT, {"description": None}) == TEXT.replace("description: Patch it.\n", "")


def test_the_outline_has_segments_lines_and_problems() -> None:
    found = outline(TEXT)
    assert [(one.id, one.segment, one.first, one.last) for one in found.actions] == [
        ("drain", 1, 6, 8),
        ("patch", 1, 9, 10),
        ("reboot", 1, 12, 15),
        ("web", 2, 17, 18),
        ("note", 2, 21, 22),
    ]
    (problem,) = found.problems
    assert (problem.line, problem.index, problem.field, problem.repair) == (15, 2, "return_deadline", 3600)
    assert found.segments == 2


def test_every_kind_has_a_form() -> None:
    for kind, row in kind_schemas().items():
        assert row.about, kind
        assert {one.type for one in row.fields} <= {
            "text", "number", "whole", "switch", "choice", "list", "words", "mapping"
        }  # fmt: skip
    when = next(one for one in kind_schemas()["reboot"].fields if one.name == "when")
    assert (when.type, when.choices, when.default) == ("choice", ("always", "needed"), "always")
    assert kind_schemas()["command"].fields[0].name == "run"
    assert {"id", "on_failure", "targets", "retry"} <= {one.name for one in policy_fields()}
