"""Detect that an installed package has replaced this program, as a dependency."""

from __future__ import annotations

from msgspec.structs import replace

import saltern
from saltern.language.result import Outcome, Result
from saltern.system.own_files import were_replaced

REPLACED = "the files of saltern itself were replaced"


def request_restart_if_replaced(result: Result) -> Result:
    """Request that the run continues with the new build, since parts of the old one are gone."""
    if result.outcome is not Outcome.OK or not were_replaced():
        return result
    ask = {"when": "after", "in_place": True, "from": saltern.__version__}
    comment = "\n".join(part for part in (result.comment, REPLACED) if part)
    return replace(result, comment=comment, extra={**result.extra, "update": ask})
