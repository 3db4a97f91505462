"""``stateful``: commands that report themselves whether they changed something."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from saltern.language.result import Outcome, Result
from saltern.modules.api.commands import Done

NO_WORDS = frozenset({"no", "false", "0", "off", "none", ""})
NOT_UNDERSTOOD = (
    "the command is stateful, so the last line of its output must be JSON or name=value pairs, "
    "such as: changed=yes comment='…'"
)


def is_stateful(value: object) -> bool:
    """True for true, or for the form with a ``test_name``; other texts are ignored, as in Salt."""
    return value is True or (isinstance(value, list | Mapping) and bool(value))


def test_command(stateful: object) -> str:
    """The command for test mode: ``stateful: [{test_name: …}]``, or the mapping alone."""
    items = stateful if isinstance(stateful, list) else [stateful]
    found = (item.get("test_name") for item in items if isinstance(item, Mapping))
    return str(next((name for name in found if name), ""))


def as_reported(answer: Result, done: Done, *, test: bool = False) -> Result:
    """The result, corrected by the report of the command."""
    if not done.started:
        return answer
    reported = parse(done.stdout)
    if reported is None:
        return replace(answer, outcome=Outcome.FAILED, comment=NOT_UNDERSTOOD)
    comment = str(reported.pop("comment", ""))
    changed = str(reported.get("changed", "")).lower() not in NO_WORDS
    outcome = answer.outcome
    if test and outcome is Outcome.OK and changed:
        outcome = Outcome.WOULD_CHANGE
    changes = {**reported, **answer.changes}
    if changes.get("stdout"):
        changes["stdout"] = before_report(done.stdout)
    return replace(
        answer,
        outcome=outcome,
        comment=comment,
        changes=changes if changed else {},
        data={**reported, **answer.data},
    )


def parse(output: str) -> dict[str, object] | None:
    """All of the output as JSON, or else its last line as JSON or pairs; None if it is neither."""
    lines = output.strip().splitlines()
    if not lines:
        return {}
    for text in (output, lines[-1]):
        if (found := _json(text)) is not None:
            return found
    return _pairs(lines[-1])


def before_report(output: str) -> str:
    """The output without the report: empty if all of it is JSON, else all but the last line."""
    return "" if _json(output) is not None else output.strip("\n").rpartition("\n")[0]


def _json(text: str) -> dict[str, object] | None:
    import json

    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _pairs(line: str) -> dict[str, object] | None:
    import shlex

    try:
        words = shlex.split(line)
    except ValueError:
        return None
    pairs = [word.partition("=") for word in words]
    return {key: value for key, _, value in pairs} if all(equals for _, equals, _ in pairs) else None
