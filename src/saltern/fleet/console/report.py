"""The page of ``saltern report`` for a job on one system: made from the journal that the controller has.

It contains its script and its style. So it is served with its own content security policy, which allows
exactly those, and in a sandbox: it has no cookie, sends no form and reaches no other page.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from typing import Any

from starlette.responses import HTMLResponse, Response

from saltern.fleet.api.problems import ApiError, unknown
from saltern.fleet.console.row import Visit
from saltern.journal.fold import fold
from saltern.journal.form import Record
from saltern.journal.run_state import RunState
from saltern.language.diagnostics import Diagnostic

_SCRIPT = re.compile(r"<script>(.*?)</script>", re.S)
MOST = 200_000  # records


async def show_report(visit: Visit) -> Response:
    """The report of what a job did on a system."""
    from saltern.views.run_page import run_page

    jid, system = visit.path["jid"], visit.path["system"]
    rows = await visit.ask.every("/v1/jobs/{jid}/records/{system}", MOST, jid=jid, system=system)
    if not rows:
        raise unknown(f"journal of job {jid} from", system)
    try:
        text = run_page(run_of(rows))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        what = f"the journal of job {jid} from {system} cannot be shown as a report"
        fix = f"run `saltern job {jid}`, which shows what it returned"
        raise ApiError(422, Diagnostic(code="console-report", what=what, fix=fix)) from None
    return HTMLResponse(text, headers={"Content-Security-Policy": policy(text)})


def run_of(rows: list[Any]) -> RunState:
    """The run of these records, without its files: a journal that was sent only names them."""
    records = [Record(number, *_pair(row["data"])) for number, row in enumerate(rows)]
    return fold(one for one in records if one.kind != "sources")


def _pair(data: Any) -> tuple[str, Any]:
    return (str(data["kind"]), data["body"]) if isinstance(data, dict) else (str(data[0]), data[1])


def policy(text: str) -> str:
    """A policy that allows the scripts of a page, and no others."""
    digests = [b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in _SCRIPT.findall(text)]
    scripts = " ".join(f"'sha256-{one}'" for one in digests) or "'none'"
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:;"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts"
    )
