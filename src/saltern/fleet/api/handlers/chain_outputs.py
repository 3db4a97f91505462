"""The output of the actions of a run."""

from __future__ import annotations

from typing import Any

from msgspec import convert

from saltern.fleet.api.call import Call
from saltern.fleet.api.chain_shapes import OutputAnswer, OutputListed, OutputsQuery
from saltern.fleet.api.pages import Page, PageQuery, decode_cursor, make_page
from saltern.fleet.api.problems import unknown
from saltern.fleet.store import chain_outputs, chain_runs


async def list_run_outputs(call: Call[PageQuery, None]) -> Page[OutputListed]:
    """How much each action has printed on each system: a program that follows reads what has been added."""
    run = call.path["run"]
    rows = await call.read(chain_outputs.run_sizes, run)
    if not rows and await call.read(chain_runs.run_row, run) is None:
        raise unknown("run", run)
    return _page(convert(rows, list[OutputListed]), call.query)


async def list_leg_outputs(call: Call[OutputsQuery, None]) -> Page[OutputAnswer]:
    """The output of the actions on one system, in their order; of long output, the end."""
    run, system, query = call.path["run"], call.path["system"], call.query
    leg = f"{run}.{system}"
    if await call.read(chain_runs.leg_row, leg) is None:
        raise unknown(f"leg of run {run} on", system)
    rows = await call.read(chain_outputs.output_rows, leg, action=query.action, attempt=query.attempt)
    texts = [{**row, "system": system, "text": bytes(row["data"]).decode()} for row in rows]
    return _page(convert(texts, list[OutputAnswer]), query)


def _page(rows: list[Any], query: PageQuery) -> Page[Any]:
    first = decode_cursor(query.cursor, tuple[int])[0] if query.cursor else 0
    part = rows[max(first, 0) :][: query.limit + 1]
    return make_page(part, query.limit, lambda _row: (max(first, 0) + query.limit,))
