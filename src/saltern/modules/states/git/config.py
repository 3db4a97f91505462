"""``git.config_set`` and ``git.config_unset``: git's own configuration, of a user or of a repository."""

from __future__ import annotations

import os
import re

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Unused
from saltern.modules.api.programs import complaint
from saltern.modules.api.refused import Refused
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.files.facts import absolute
from saltern.modules.lib.git.command import Git, lines
from saltern.modules.lib.git.copy import is_repository

MEANINGLESS = frozenset({"password", "output_encoding", "global"})
ABSENT = 1  # the exit code of git if nothing matches
NOT_THERE = 5


class Place:
    """Where a setting is stored: in a repository, or in the user's own file."""

    def __init__(self, ctx: Context, repo: str | None, user: str | None, everywhere: bool) -> None:
        if bool(repo) == everywhere:
            raise Refused("give either 'repo' or 'global: True'")
        path = absolute(repo) if repo else None
        if path and not is_repository(path):
            missing = not os.path.lexists(path)
            raise Refused(f"{path} is not a git repository", later=missing)
        self._git = Git(ctx, path, user=user)
        self._scope = "--global" if everywhere else "--local"
        self.name = path or "global"

    def values(self, key: str, pattern: str | None = None) -> list[str]:
        words = [pattern] if pattern else []
        ran = self._git.ran("config", self._scope, "--null", "--get-all", key, *words)
        if ran.code not in (0, ABSENT):
            raise Refused(complaint(ran, "git", what=f"cannot read {key!r}"))
        return ran.out.split("\0")[:-1] if ran.out else []

    def keys(self) -> list[str]:
        ran = self._git.ran("config", self._scope, "--name-only", "--list")
        return list(dict.fromkeys(lines(ran.out)))

    def replace(self, key: str, values: list[str]) -> None:
        self._git.out("config", self._scope, "--replace-all", key, values[0])
        for value in values[1:]:
            self._git.out("config", self._scope, "--add", key, value)

    def unset(self, key: str, pattern: str | None) -> None:
        words = [pattern] if pattern else []
        ran = self._git.ran("config", self._scope, "--unset-all", key, *words)
        if ran.code not in (0, NOT_THERE):
            raise Refused(complaint(ran, "git", what=f"cannot unset {key!r}"))


def _key(name: str) -> str:
    section, dot, key = name.rpartition(".")
    if not dot or not section or not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", key):
        raise Refused(f"{name!r} is not the name of a setting; it looks like 'user.name'")
    return name


def _text(value: object) -> str:
    """The value as text; git writes booleans in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@state
def config_set(
    ctx: Context,
    /,
    name: str,
    *,
    value: object = None,
    multivar: object = None,
    repo: str | None = None,
    user: str | None = None,
    **rest: Unused,
) -> Result:
    """Set a git setting to a value, or to several values.

    Args:
        name: the setting, such as ``user.email``.
        value: its value.
        multivar: a list of values, instead of ``value``.
        repo: the repository it is set in.
        user: the user whose setting it is, or the owner of the repository.
        global: True sets it for the user instead of a repository.

    Example:
        ```yaml
        user.email:
          git.config_set:
            - value: ada@example.org
            - user: ada
            - global: true
        ```
    """
    values = [value] if multivar is None else multivar if isinstance(multivar, list) else [multivar]
    ctx.facts = {"name": name}
    ctx.foreseen = {name: {"old": None, "new": [_text(one) for one in values]}}
    if (value is None) == (multivar is None):
        raise Refused("give either 'value' or 'multivar'")
    given = [value] if multivar is None else multivar if isinstance(multivar, list) else [multivar]
    wanted = [_text(one) for one in given]
    if not wanted:
        raise Refused("'multivar' is an empty list")
    key = _key(name)
    place = Place(ctx, repo, user, bool(rest.get("global")))
    old = place.values(key)
    changes = {} if old == wanted else {key: {"old": old or None, "new": wanted}}
    if changes and not ctx.test:
        place.replace(key, wanted)
        if place.values(key) != wanted:
            raise Refused(f"git did not keep the value of {key!r}")
    return result_of(
        ctx,
        changes,
        Words(
            f"{key} is set to {wanted!r} already",
            f"{key} would be set to {wanted!r}",
            f"{key} was set to {wanted!r}",
        ),
        {"name": key, "where": place.name, "value": wanted if changes and not ctx.test else old},
        unused_warnings(rest, MEANINGLESS),
    )


@state
def config_unset(
    ctx: Context,
    /,
    name: str,
    *,
    value_regex: str | None = None,
    repo: str | None = None,
    user: str | None = None,
    all: bool = False,
    **rest: Unused,
) -> Result:
    """Remove git settings.

    Args:
        name: the setting, or a regular expression that matches several names.
        value_regex: remove only values that match this.
        repo: the repository it is removed from.
        user: the user whose setting it is, or the owner of the repository.
        all: remove all values of a setting that has several.
        global: True removes it from the user's settings instead of a repository.

    Example:
        ```yaml
        core.autocrlf:
          git.config_unset:
            - repo: /srv/checkout
        ```
    """
    ctx.facts = {"name": name}
    place = Place(ctx, repo, user, bool(rest.get("global")))
    found = {key: place.values(key, value_regex) for key in _matching_names(place, name)}
    found = {key: values for key, values in found.items() if values}
    if not all and any(len(values) > 1 for values in found.values()):
        raise Refused(f"{name!r} has several values; set all: True, or give value_regex")
    changes: dict[str, object] = {
        key: {"old": values, "new": _kept_values(place.values(key), values)} for key, values in found.items()
    }
    if changes and not ctx.test:
        for key in found:
            place.unset(key, value_regex)
    return result_of(
        ctx,
        changes,
        Words(f"{name} is not set", f"{', '.join(found)} would be unset", f"{', '.join(found)} was unset"),
        {"name": name, "where": place.name},
        unused_warnings(rest, MEANINGLESS),
    )


def _matching_names(place: Place, name: str) -> list[str]:
    try:
        pattern = re.compile(name, re.IGNORECASE)
    except re.error as problem:
        raise Refused(f"{name!r} is not a regular expression: {problem}") from None
    return [key for key in place.keys() if pattern.fullmatch(key) or key.lower() == name.lower()]  # noqa: SIM118


def _kept_values(values: list[str], removed: list[str]) -> list[str] | None:
    return [value for value in values if value not in removed] or None
