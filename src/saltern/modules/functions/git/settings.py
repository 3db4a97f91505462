"""``git``: settings of repositories and users."""

from __future__ import annotations

from saltern.modules.api.commands import list_of_texts
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import absolute
from saltern.modules.lib.git.command import Git, lines


def _where(cwd: str | None, options: dict[str, object]) -> tuple[str | None, list[str]]:
    """The repository, or the settings of the user (``global``)."""
    if options.get("global"):
        return None, ["--global"]
    if not cwd:
        raise BadArgument("give cwd, or global=True for the settings of the user")
    return absolute(cwd), []


@function
def config_get(
    ctx: Context,
    /,
    key: str,
    cwd: str | None = None,
    user: str | None = None,
    **kwargs: object,
) -> object:
    """The value of a setting; with ``all`` the list of its values. None if it is not set.

    Example:
        ```console
        $ saltern call git.config_get core.autocrlf /srv/checkout
        local:
            false
        ```
    """
    scope = ["--global"] if kwargs.get("global") or not cwd else []
    git = Git(ctx, cwd, user=user)
    found = lines(git.maybe("config", *scope, "--get-all", key))
    if not found:
        return None
    return list(found) if kwargs.get("all") else found[-1]


@function
def config_set(
    ctx: Context,
    /,
    key: str,
    value: object = None,
    multivar: object = None,
    cwd: str | None = None,
    user: str | None = None,
    **kwargs: object,
) -> list[str]:
    """Set the value of a setting. Returns all its values.

    Args:
        key: the setting, such as ``user.name``.
        value: its value.
        multivar: its values, replacing all others; a list, or text with commas.
        cwd: the repository.
        user: the user to run git as.
        kwargs: ``global``: set it for the user; ``add``: keep the existing values.

    Example:
        ```console
        $ saltern call git.config_set core.autocrlf input cwd=/srv/checkout
        local:
            - input
        ```
    """
    if (value is None) == (multivar is None):
        raise BadArgument("give value or multivar, and not both")
    path, scope = _where(cwd, kwargs)
    git = Git(ctx, path, user=user)
    values = multivar.split(",") if isinstance(multivar, str) else list_of_texts(multivar)
    for at, one in enumerate([str(value)] if value is not None else values):
        how = "--add" if at or (value is not None and kwargs.get("add")) else "--replace-all"
        git.out("config", *scope, how, key, one)
    return list(lines(git.maybe("config", *scope, "--get-all", key)))


@function
def config_unset(
    ctx: Context,
    /,
    key: str,
    value_regex: str | None = None,
    cwd: str | None = None,
    user: str | None = None,
    **kwargs: object,
) -> bool:
    """Remove a setting.

    Args:
        key: the setting.
        value_regex: only values that match this.
        cwd: the repository.
        user: the user to run git as.
        kwargs: ``global``: a setting of the user; ``all``: all its values.

    Example:
        ```console
        $ saltern call git.config_unset core.autocrlf cwd=/srv/checkout
        local:
            True
        ```
    """
    path, scope = _where(cwd, kwargs)
    how = "--unset-all" if kwargs.get("all") else "--unset"
    fitting = [value_regex] if value_regex else []
    Git(ctx, path, user=user).out("config", *scope, how, key, *fitting)
    return True


@function
def config_get_regexp(
    ctx: Context,
    /,
    key: str,
    value_regex: str | None = None,
    cwd: str | None = None,
    user: str | None = None,
    **kwargs: object,
) -> dict[str, list[str]]:
    """The settings whose names match, each with its values.

    Args:
        key: a regular expression for their names.
        value_regex: only values that match this.
        cwd: the repository; the settings of the user if not given.
        user: the user to run git as.
        kwargs: ``global``: settings of the user.

    Example:
        ```console
        $ saltern call git.config_get_regexp '^core[.]' cwd=/srv/checkout
        ```
    """
    path, scope = _where(cwd, {"global": kwargs.get("global") or not cwd})
    fitting = [value_regex] if value_regex else []
    rows = Git(ctx, path, user=user).maybe("config", *scope, "--get-regexp", key, *fitting)
    found: dict[str, list[str]] = {}
    for line in lines(rows):
        name, _, value = line.partition(" ")
        found.setdefault(name, []).append(value)
    return found
