"""The comments of lvm states, by the kind of change."""

from __future__ import annotations

from msgspec.structs import replace

from saltern.language.result import Outcome, Result

SENTENCES = {
    "created": ("{} would be created", "Created {}"),
    "removed": ("{} would be removed", "Removed {}"),
    "resized": ("{} would be resized", "Resized {}"),
    "": ("{} would be extended", "Extended {}"),  # by the devices that the changes name
}


def set_comment(result: Result, what: str) -> Result:
    """Set the comment of a change to ``what``, such as ``Volume Group data``; other results keep theirs."""
    if not result.changes or result.outcome is Outcome.FAILED:
        return result
    key = next((key for key in SENTENCES if key in result.changes), "")
    would, done = SENTENCES[key]
    sentence = would if result.outcome is Outcome.WOULD_CHANGE else done
    return replace(result, comment=sentence.format(what))
