"""The mine: read ``mine_functions`` in all of Salt's forms, call the functions and publish their results."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from msgspec import Struct

from saltern.language import secrets
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.targeting.problem import BadTarget
from saltern.targeting.salt_types import compound_of

log = logging.getLogger(__name__)


class Published(Struct, frozen=True, kw_only=True):
    """One row: its name, its function, and the systems that may read it (a compound target; empty: all)."""

    name: str
    function: str
    args: list[object] = []
    kwargs: dict[str, object] = {}
    allowed: str = ""


def read_definition(name: str, given: object) -> Published:
    """A row of ``mine_functions``: arguments as a list or a mapping, with an alias by ``mine_function``."""
    args: list[object] = []
    kwargs: dict[str, object] = {}
    for item in given if isinstance(given, list) else [given] if isinstance(given, Mapping) else []:
        if isinstance(item, Mapping):
            kwargs |= {str(key): value for key, value in item.items()}
        else:
            args.append(item)
    function = str(kwargs.pop("mine_function", None) or name)
    allowed = allowed_of(kwargs.pop("allow_tgt", None), kwargs.pop("allow_tgt_type", None))
    return Published(name=name, function=function, args=args, kwargs=kwargs, allowed=allowed)


def allowed_of(target: object, kind: object) -> str:
    """The target of the systems that may read a value, as one compound expression."""
    if not target:
        return ""
    try:
        return compound_of(target if isinstance(target, list) else str(target), str(kind or "glob"))
    except BadTarget as problem:
        raise BadArgument(f"allow_tgt: {problem.what}") from None


def configured_functions(ctx: Context) -> dict[str, object]:
    """``mine_functions`` of the configuration and the pillar, merged; the pillar wins."""
    found: dict[str, object] = {}
    for source in (ctx.opts.get("mine_functions"), ctx.pillar.get("mine_functions")):
        if isinstance(source, list):
            found |= {str(one): {} for one in source if isinstance(one, str)}
            found |= {
                str(key): value for one in source if isinstance(one, Mapping) for key, value in one.items()
            }
        elif isinstance(source, Mapping):
            found |= {str(key): value for key, value in source.items()}
    return found


def gather(ctx: Context, rows: list[Published]) -> dict[str, object]:
    """The results of the functions. A failing or missing function is logged and left out."""
    values: dict[str, object] = {}
    for row in rows:
        if row.function not in ctx.functions:
            log.warning("the mine: no function is called %r", row.function)
            continue
        try:
            values[row.name] = secrets.mask_all(ctx.functions[row.function](*row.args, **row.kwargs))
        except Exception as problem:
            log.warning("the mine: %s failed: %s", row.function, problem)
    return values


def publish(ctx: Context, rows: list[Published], *, clear: bool = False) -> bool:
    """Call the functions and send their results."""
    values = gather(ctx, rows)
    if not values and not clear:
        return False
    allowed = {row.name: row.allowed for row in rows if row.allowed}
    ctx.run.agent.ask("mine", store=values, allowed=allowed, clear=clear)
    return True
