"""``aliases``: where the mail of local names goes."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import one_line
from saltern.modules.lib.tables import aliases


@function
def list_aliases(ctx: Context) -> dict[str, str]:
    """Every alias and its target.

    Example:
        ```console
        $ saltern call aliases.list_aliases
        local:
            ----------
            olduser:
                ada
        ```
    """
    return aliases.read(ctx)


@function
def get_target(ctx: Context, alias: str) -> str:
    """The target of the mail of a name; empty if there is no such alias.

    Example:
        ```console
        $ saltern call aliases.get_target olduser
        local:
            ada
        ```
    """
    return aliases.read(ctx).get(alias, "")


@function
def has_target(ctx: Context, alias: str, target: object) -> bool:
    """True if a name has this target.

    Example:
        ```console
        $ saltern call aliases.has_target olduser ada
        local:
            True
        ```
    """
    text = ", ".join(map(str, target)) if isinstance(target, list | tuple) else str(target)
    return aliases.same(aliases.read(ctx).get(alias, ""), text)


@function
def set_target(ctx: Context, alias: str, target: str) -> bool:
    """Set the target of a name.

    Example:
        ```console
        $ saltern call aliases.set_target support ada@example.org
        local:
            True
        ```
    """
    aliases.put(ctx, one_line(alias, "alias", without=":#"), one_line(target, "target", without="#"))
    return True


@function
def rm_alias(ctx: Context, alias: str) -> bool:
    """Remove an alias.

    Example:
        ```console
        $ saltern call aliases.rm_alias olduser
        local:
            True
        ```
    """
    if alias in aliases.read(ctx):
        aliases.put(ctx, alias, None)
    return True
