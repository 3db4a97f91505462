"""``npm``: Node packages of the machine or of a directory."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.programs import complaint, program
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import absolute
from saltern.modules.lib.npm import QUIET, Npm, decode_output, npm_for, packages, split

EXACT = re.compile(r"v?\d+\.\d+\.\d+(?:[-+][\w.-]+)?")


def _matching_versions(ctx: Context, npm: Npm, spec: str) -> list[str]:
    """All versions in the registry that match the specification."""
    reported = npm.out(ctx, "view", spec, "version", what=f"cannot find {spec}")
    return (
        [str(one) for one in reported] if isinstance(reported, list) else [str(reported)] if reported else []
    )


def _satisfied(ctx: Context, npm: Npm, spec: str, present: Mapping[str, str]) -> bool:
    name, version = split(spec)
    if not name or name not in present:
        return False
    if not version:
        return True
    if EXACT.fullmatch(version):
        return present[name] == version.removeprefix("v")
    return present[name] in _matching_versions(ctx, npm, spec)


def _specs(name: str, pkgs: object) -> list[str]:
    listed = [name] if pkgs is None else [str(one) for one in pkgs] if isinstance(pkgs, list) else [str(pkgs)]
    if not listed:
        raise Refused("'pkgs' is an empty list")
    if bad := [one for one in listed if one.startswith("-") or not one.strip()]:
        raise Refused(f"{bad[0]!r} is not a package")
    return listed


@state
def installed(
    ctx: Context,
    name: str,
    *,
    pkgs: object = None,
    dir: str | None = None,
    user: str | None = None,
    force_reinstall: bool = False,
    registry: str | None = None,
    env: object = None,
) -> Result:
    """Make sure that Node packages are installed.

    Args:
        name: the package; ``name@version`` names a version, a range or a tag.
        pkgs: a list of packages instead of ``name``.
        dir: the directory to install into; the whole machine if not given.
        user: the user to install as.
        force_reinstall: reinstall installed packages.
        registry: the URL of the registry.
        env: more environment variables.

    Example:
        ```yaml
        left-trim@1.0.0:
          npm.installed:
            - dir: /srv/site
        ```
    """
    new = pkgs if isinstance(pkgs, list) else [pkgs or name]
    ctx.facts = {"name": name}
    ctx.foreseen = {"old": [], "new": new}
    specs = _specs(name, pkgs)
    npm = npm_for(dir, user, registry, env)
    before = packages(ctx, npm)
    todo = [one for one in specs if force_reinstall or not _satisfied(ctx, npm, one, before)]
    old = [f"{key}@{before[key]}" for key in _names(todo) if key in before]
    changes = {"old": old, "new": todo} if todo else {}
    if todo and ctx.test:
        for spec in filter(lambda one: split(one)[0], todo):
            _matching_versions(ctx, npm, spec)  # fail as npm would if the registry has no such version
    if todo and not ctx.test:
        npm.out(ctx, "install", "--", *todo, what=f"Error installing {', '.join(todo)}")
    after = packages(ctx, npm)
    if not ctx.test and (left := [key for key in _names(todo) if key not in after]):
        raise Refused(f"npm did not install {', '.join(left)}")
    return result_of(
        ctx,
        changes,
        Words(
            f"Package(s) '{', '.join(specs)}' satisfied",
            f"NPM package(s) '{', '.join(todo)}' are set to be installed",
            f"Package(s) '{', '.join(todo)}' successfully installed",
        ),
        {"packages": {key: after.get(key) for key in _names(specs)}, "where": npm.dir or "global"},
    )


def _names(specs: Sequence[str]) -> list[str]:
    return [key for spec in specs if (key := split(spec)[0])]


@state(removes=True)
def removed(ctx: Context, name: str, *, dir: str | None = None, user: str | None = None) -> Result:
    """Make sure that a Node package is not installed.

    Args:
        name: the package.
        dir: the directory it is installed in; the whole machine if not given.
        user: the user whose package it is.

    Example:
        ```yaml
        left-trim:
          npm.removed:
            - dir: /srv/site
        ```
    """
    ctx.facts = {"name": name}
    key = split(name)[0]
    if not key:
        raise Refused(f"{name!r} is not the name of a package")
    npm = npm_for(dir, user)
    there = key in packages(ctx, npm)
    if there and not ctx.test:
        npm.out(ctx, "uninstall", "--", key, what=f"Error removing package '{name}'")
        if key in packages(ctx, npm):
            raise Refused(f"npm did not remove {key}")
    return result_of(
        ctx,
        {name: "Removed"} if there else {},
        Words(
            f"Package '{name}' is not installed",
            f"Package '{name}' is set to be removed",
            f"Package '{name}' was successfully removed",
        ),
        {"package": key, "where": npm.dir or "global"},
    )


@state
def bootstrap(
    ctx: Context,
    name: str,
    *,
    user: str | None = None,
    registry: str | None = None,
) -> Result:
    """Make sure that all packages that a directory's ``package.json`` lists are installed.

    Args:
        name: the directory.
        user: the user to install as.
        registry: the URL of the registry.

    Example:
        ```yaml
        /srv/site:
          npm.bootstrap: []
        ```
    """
    ctx.facts = {"path": name}
    ctx.foreseen = {name: "Bootstrapped"}
    npm = npm_for(name, user, registry)
    if not os.path.exists(os.path.join(absolute(name), "package.json")):
        raise Refused(f"{name} has no package.json")
    missing = _problems(ctx, npm)
    if missing and not ctx.test:
        npm.out(ctx, "install", what=f"Error bootstrapping {name}")
        if left := _problems(ctx, npm):
            raise Refused(f"after npm install, problems remain: {'; '.join(left)}")
    return result_of(
        ctx,
        {name: "Bootstrapped"} if missing else {},
        Words(
            "Directory is already bootstrapped",
            f"{name} is set to be bootstrapped",
            "Directory was successfully bootstrapped",
        ),
        {"path": name, "packages": packages(ctx, npm)},
    )


def _problems(ctx: Context, npm: Npm) -> list[str]:
    reported = decode_output(npm.ran(ctx, "ls", "--all").out)
    found = reported.get("problems") if isinstance(reported, dict) else None
    return [str(one) for one in found] if isinstance(found, list) else []


@state
def cache_cleaned(ctx: Context, name: str = "", *, user: str | None = None, force: bool = False) -> Result:
    """Make sure that npm's cache is empty.

    Args:
        name: any text.
        user: the user whose cache it is.
        force: accepted for compatibility with Salt; npm always needs it.

    Example:
        ```yaml
        npm cache:
          npm.cache_cleaned:
            - force: true
        ```
    """
    ctx.facts = {"name": name or "npm cache", "force": force}
    npm = npm_for(None, user)
    ran = program(ctx, ["npm", "config", "get", "cache"], user=user, env=QUIET)
    if ran.code:
        raise Refused(complaint(ran, "npm", what="cannot find npm's cache directory"))
    place = os.path.join(ran.out.strip(), "_cacache", "index-v5")
    full = os.path.isdir(place) and bool(os.listdir(place))
    if full and not ctx.test:
        npm.ran(ctx, "cache", "clean", "--force")
    return result_of(
        ctx,
        {"cache": "Removed"} if full else {},
        Words(
            "Cached packages are already cleaned",
            "Cached packages set to be removed",
            "Cached packages successfully removed",
        ),
        {"path": ran.out.strip()},
    )
