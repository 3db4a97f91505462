"""``augeas``: configuration files as a tree, with the program ``augtool``."""

from __future__ import annotations

import shlex

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib.tables import augeas


def _try_save(edit: augeas.Edit) -> dict[str, object]:
    try:
        edit.save()
    except Refused as problem:
        return {"retval": False, "error": str(problem)}
    return {"retval": True}


@function
def execute(
    ctx: Context,
    context: str | None = None,
    lens: str | None = None,
    commands: list[object] | None = None,
    load_path: str | None = None,
) -> dict[str, object]:
    """Change files with the commands ``set``, ``setm``, ``mv``, ``ins`` and ``rm``. Either all of them apply,
    or none.

    Needs ``augtool`` with its command ``preview``: Augeas 1.14 or newer (Debian: ``augeas-tools``). Arguments
    and return values of this module follow Salt's documentation of 3006, the last version with it.

    Args:
        context: the prefix of relative paths; with ``lens``, the file.
        lens: read the file with this lens, such as ``Hosts.lns``.
        commands: the commands, in augtool's syntax.
        load_path: further directories of lenses, separated by colons.

    Example:
        ```console
        $ saltern call augeas.execute /files/etc/hosts commands='["set 1/canonical localhost"]'
        ```
    """
    try:
        edit = augeas.Edit(ctx, commands or [], context or "", lens or "", load_path)
    except Refused as problem:
        return {"retval": False, "error": str(problem)}
    return _try_save(edit)


@function
def get(ctx: Context, path: str, value: str = "", load_path: str | None = None) -> dict[str, object]:
    """The value at a path; nothing if there is none.

    Args:
        path: the path.
        value: a path below it.
        load_path: further directories of lenses, separated by colons.

    Example:
        ```console
        $ saltern call augeas.get /files/etc/hosts/1 ipaddr
        ```
    """
    full = f"{path.rstrip('/')}/{value.strip('/')}" if value else path
    found = augeas.nodes(ctx, [full], load_path=load_path)
    if len(found) > 1:
        return {"error": f"{full} matches {len(found)} nodes"}
    return {full: next(iter(found.values()), None)}


@function
def match(ctx: Context, path: str, value: str = "", load_path: str | None = None) -> dict[str, str]:
    """The paths that match an expression, and their values.

    Args:
        path: the expression.
        value: only nodes with this value.
        load_path: further directories of lenses, separated by colons.

    Example:
        ```console
        $ saltern call augeas.match '/files/etc/hosts/*/canonical' localhost
        ```
    """
    found = augeas.nodes(ctx, [path], load_path=load_path)
    return {one: has for one, has in found.items() if not value or has == str(value)}


@function
def ls(ctx: Context, path: str, load_path: str | None = None) -> dict[str, str]:
    """The names directly below a path; a name with children ends with a slash.

    Args:
        path: the path.
        load_path: further directories of lenses, separated by colons.

    Example:
        ```console
        $ saltern call augeas.ls /files/etc/hosts
        ```
    """
    base = path.rstrip("/")
    below = augeas.nodes(ctx, [f"{base}/*"], load_path=load_path, deep=True)
    parents = {one.rpartition("/")[0] for one in below}
    own = [one for one in below if one.rpartition("/")[0] not in below]
    return {f"{one.rpartition('/')[2]}{'/' if one in parents else ''}": below[one] for one in own}


@function
def tree(ctx: Context, path: str, load_path: str | None = None) -> dict[str, str]:
    """A node and all nodes below it.

    Args:
        path: the path.
        load_path: further directories of lenses, separated by colons.

    Example:
        ```console
        $ saltern call augeas.tree /files/etc/hosts/1
        ```
    """
    return augeas.nodes(ctx, [path.rstrip("/")], load_path=load_path, deep=True)


@function
def remove(ctx: Context, path: str, load_path: str | None = None) -> dict[str, object]:
    """Remove the nodes that match a path, and all nodes below them. Returns the number of removed nodes.

    Needs ``augtool`` with its command ``preview``: Augeas 1.14 or newer (Debian: ``augeas-tools``).

    Args:
        path: the path.
        load_path: further directories of lenses, separated by colons.

    Example:
        ```console
        $ saltern call augeas.remove "/files/etc/hosts/*[canonical='old']"
        ```
    """
    gone = augeas.nodes(ctx, [path], load_path=load_path, deep=True)
    if not gone:
        return {"retval": 0, "error": "Invalid node"}
    done = _try_save(augeas.Edit(ctx, [f"rm {shlex.quote(path)}"], load_path=load_path))
    return done if "error" in done else {"retval": len(gone)}


@function
def setvalue(ctx: Context, /, *args: object, **options: object) -> dict[str, object]:
    """Set values: path, value, path, value …

    Needs ``augtool`` with its command ``preview``: Augeas 1.14 or newer (Debian: ``augeas-tools``).

    Args:
        args: the paths, each with its value after it.
        options: ``prefix``, the prefix of all paths, and ``load_path``.

    Example:
        ```console
        $ saltern call augeas.setvalue /files/etc/hosts/1/canonical localhost
        ```
    """
    if not args or len(args) % 2:
        raise Refused("setvalue needs a value for each path")
    prefix = str(options.get("prefix") or "").rstrip("/")
    words = [str(one) for one in args]
    pairs = zip(words[::2], words[1::2], strict=True)
    quote = shlex.quote
    full = [(f"{prefix}/{path.lstrip('/')}" if prefix else path, value) for path, value in pairs]
    load_path = options.get("load_path")
    commands = [f"set {quote(path)} {quote(value)}" for path, value in full]
    return _try_save(augeas.Edit(ctx, commands, load_path=str(load_path) if load_path else None))
