"""``alias``: where the mail of local names goes."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused, one_line
from saltern.modules.lib.tables import aliases


def _check(name: str) -> None:
    if not name or any(sign.isspace() or sign in ":#" for sign in name):
        raise Refused(f"{name!r} cannot be the name of an alias")


def _facts(ctx: Context, name: str) -> Changes:
    return {"name": name, "target": aliases.read(ctx).get(name), "file": aliases.place(ctx)}


@state
def present(ctx: Context, name: str, *, target: list[str]) -> Result:
    """Make sure that the mail of a name goes to a target.

    Args:
        name: the local name.
        target: the address, or a list of them.

    Example:
        ```yaml
        root:
          alias.present:
            - target: ops@example.org
        ```
    """
    wanted = ", ".join(one_line(one.strip(), "target", without="#") for one in target)
    _check(name)
    if not wanted:
        raise Refused("target is empty; use alias.absent to remove an alias")
    return bring(
        ctx,
        lambda: {} if aliases.same(aliases.read(ctx).get(name, ""), wanted) else {"alias": name},
        lambda _: aliases.put(ctx, name, wanted),
        facts=lambda: _facts(ctx, name),
        words=Words(f"Alias {name} is present", f"Alias {name} would be set", f"Alias {name} was set"),
    )


@state(removes=True)
def absent(ctx: Context, name: str) -> Result:
    """Make sure that an alias does not exist.

    Args:
        name: the local name.

    Example:
        ```yaml
        olduser:
          alias.absent: []
        ```
    """
    _check(name)
    return bring(
        ctx,
        lambda: {"alias": name} if name in aliases.read(ctx) else {},
        lambda _: aliases.put(ctx, name, None),
        facts=lambda: _facts(ctx, name),
        words=Words(f"Alias {name} is absent", f"Alias {name} would be removed", f"Alias {name} was removed"),
    )
