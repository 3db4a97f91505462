"""Return values of the functions of ``nftables``."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.firewalls import nft
from saltern.modules.lib.firewalls.nft import Place

Reply = dict[str, object]


def answer(result: bool, comment: str, **more: object) -> Reply:
    return {"result": result, "comment": comment, **more}


def describe_place(where: Place) -> str:
    what = f"Chain {where.chain} in table" if where.chain else "Table"
    return f"{what} {where.table} in family {where.family}"


def run_nft(ctx: Context, where: Place, verb: str, *words: str) -> Reply:
    """Run nft, and return the outcome; an error of nft is the comment."""
    try:
        nft.run(ctx, *words)
    except Refused as refused:
        return answer(False, str(refused))
    return answer(True, f"{describe_place(where)} {verb}")
