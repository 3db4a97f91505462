"""Adds actions to the text of a chain file, one at a time; comments and layout are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from saltern.chains.actions import KINDS
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean

NEW = "chain: {name}\nactions:\n"
REFUSED = {
    "missing": ("there is no list of actions", "begin the file with `chain: NAME` and `actions:`"),
    "flow": ("the actions are on one line", "write each of them on its own line, with `- `"),
    "other": ("'actions' is not a list", "write each action on its own line, with `- `"),
}


def action_of(kind: str, words: Sequence[str], policy: Mapping[str, object]) -> dict[str, object]:
    """The action from words of a command line: ``key=value`` for its arguments, others for its main argument.

    A value is read as YAML, so that lists and numbers can be given.
    """
    if kind not in KINDS:
        fix = did_you_mean(kind, KINDS) or f"known are {', '.join(KINDS)}"
        raise _refusal(f"no action is called {kind!r}", fix)
    row = KINDS[kind]
    fields = row.body.__struct_encode_fields__
    given: dict[str, object] = {}
    plain: list[str] = []
    for word in words:
        key, sign, value = word.partition("=")
        if sign and key in fields:
            given[key] = _value(value)
        else:
            plain.append(word)
    if plain and not row.short:
        raise _refusal(f"{kind} takes no {plain[0]!r}", f"its arguments are {', '.join(fields)}: KEY=VALUE")
    if plain:
        given[row.short] = _value(plain[0]) if len(plain) == 1 else plain
    body: object = given
    if set(given) == {row.short}:
        body = given[row.short]
    ordered = {"id": policy["id"]} if policy.get("id") else {}
    return {**ordered, kind: body, **{key: value for key, value in policy.items() if key != "id" and value}}


def with_action(text: str, action: Mapping[str, object], file: str) -> str:
    """The text of the file with this action as the last of its actions."""
    end = _end_of_actions(text, file)
    before, after = text[:end], text[end:]
    if before and not before.endswith("\n"):
        before += "\n"
    return before + _item(action) + after


def _item(action: Mapping[str, object]) -> str:
    from saltern.report.yaml import dump

    first, *rest = dump(dict(action)).rstrip("\n").split("\n")
    return "\n".join([f"  - {first}", *(f"    {line}" if line else "" for line in rest)]) + "\n"


def _end_of_actions(text: str, file: str) -> int:
    """The line after the list of actions, before comments that belong to what follows."""
    from saltern.render.yaml_places import end_of_list

    how, last = end_of_list(text, "actions")
    if how in REFUSED:
        raise _refusal(f"{file}: {REFUSED[how][0]}", REFUSED[how][1])
    lines = text.splitlines(keepends=True)
    while last > 0 and (not lines[last - 1].strip() or lines[last - 1].startswith("#")):
        last -= 1
    return sum(len(line) for line in lines[:last])


def _value(text: str) -> object:
    from saltern.render.yaml import read
    from saltern.render.yaml_limits import YamlProblem

    try:
        found = read(text)
    except YamlProblem:
        return text
    return text if isinstance(found, Mapping) and not text.lstrip().startswith("{") else found


def _refusal(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="chain-file", what=what, fix=fix))
