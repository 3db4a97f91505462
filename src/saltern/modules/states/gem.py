"""``gem``: Ruby packages."""

from __future__ import annotations

import re

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.programs import program
from saltern.modules.api.refused import Refused
from saltern.modules.lib.gems import Gem, check_name, gem_for, gems, sources

EXACT = re.compile(r"\d[\w.-]*")


@state
def installed(
    ctx: Context,
    name: str,
    *,
    ruby: str | None = None,
    gem_bin: str | None = None,
    user: str | None = None,
    version: str | None = None,
    rdoc: bool = False,
    ri: bool = False,
    pre_releases: bool = False,
    proxy: str | None = None,
    source: str | None = None,
) -> Result:
    """Make sure that a Ruby package is installed.

    Args:
        name: the gem.
        ruby: the Ruby version of rvm to install it for.
        gem_bin: the path of the program ``gem``.
        user: the user to install as.
        version: the version it must have; any if not given.
        rdoc, ri: generate this documentation, too.
        pre_releases: accept prerelease versions.
        proxy: the proxy to use.
        source: the URL to fetch gems from.

    Example:
        ```yaml
        tidy:
          gem.installed:
            - version: 1.0.0
        ```
    """
    ctx.facts = {"gem": name}
    ctx.foreseen = {name: "Installed"}
    check_name(name)
    gem = gem_for(ruby, gem_bin, user)
    there = gems(ctx, gem, name).get(name, [])
    missing = not _has(ctx, gem, name, version, there)
    if missing and not ctx.test:
        words = _words(version, rdoc, ri, pre_releases, proxy, source)
        gem.out(ctx, "install", *words, name, what="Could not install gem")
        there = gems(ctx, gem, name).get(name, [])
        if not _has(ctx, gem, name, version, there):
            raise Refused(f"gem did not install {name} {version or ''}".rstrip())
    what = f"{name} {version}" if version else name
    return result_of(
        ctx,
        {name: "Installed"} if missing else {},
        Words(
            "Gem is already installed",
            f"The gem {what} would have been installed",
            "Gem was successfully installed",
        ),
        {"gem": name, "versions": there},
    )


def _has(ctx: Context, gem: Gem, name: str, version: str | None, there: list[str]) -> bool:
    """True if a fitting version is installed; gem itself checks a requirement such as ``>= 7.1``."""
    if not version or EXACT.fullmatch(version):
        return version in there if version else bool(there)
    argv = [*gem.argv, "list", "--installed", "--exact", "--version", version, name]
    return bool(there) and not program(ctx, argv, user=gem.user).code


def _words(
    version: str | None, rdoc: bool, ri: bool, pre: bool, proxy: str | None, source: str | None
) -> list[str]:
    kinds = [kind for kind, wanted in (("rdoc", rdoc), ("ri", ri)) if wanted]
    words = [f"--document={','.join(kinds)}"] if kinds else ["--no-document"]
    words += ["--prerelease"] if pre else []
    for flag, value in (("--version", version), ("--http-proxy", proxy), ("--source", source)):
        words += [flag, value] if value else []
    return words


@state(removes=True)
def removed(
    ctx: Context,
    name: str,
    *,
    ruby: str | None = None,
    user: str | None = None,
    gem_bin: str | None = None,
) -> Result:
    """Make sure that no version of a Ruby package is installed.

    Args:
        name: the gem.
        ruby: the Ruby version of rvm to install it for.
        user: the user whose gem it is.
        gem_bin: the path of the program ``gem``.

    Example:
        ```yaml
        tidy:
          gem.removed: []
        ```
    """
    ctx.facts = {"gem": name}
    check_name(name)
    gem = gem_for(ruby, gem_bin, user)
    there = gems(ctx, gem, name).get(name, [])
    if there and not ctx.test:
        gem.out(ctx, "uninstall", "--all", "--executables", name, what="Could not remove gem")
        if left := gems(ctx, gem, name).get(name):
            raise Refused(f"gem did not remove {name} {', '.join(left)}")
    return result_of(
        ctx,
        {name: "Removed"} if there else {},
        Words(
            "Gem is not installed", f"The gem {name} would have been removed", "Gem was successfully removed"
        ),
        {"gem": name, "versions": there if ctx.test else []},
    )


def _source(ctx: Context, name: str, ruby: str | None, user: str | None, *, wanted: bool) -> Result:
    ctx.facts = {"source": name}
    if not name.startswith(("http://", "https://", "file://")):
        raise Refused(f"{name!r} is not the URL of a source")
    gem = gem_for(ruby, None, user)
    wrong = (name in sources(ctx, gem)) != wanted
    if wrong and not ctx.test:
        flag = "--add" if wanted else "--remove"
        gem.out(ctx, "sources", flag, name, what="Could not change the sources")
        if (name in sources(ctx, gem)) != wanted:
            raise Refused(f"gem did not {'add' if wanted else 'remove'} {name}")
    verb = "added" if wanted else "removed"
    return result_of(
        ctx,
        {name: "Installed" if wanted else "Removed"} if wrong else {},
        Words(
            "Gem source is already added." if wanted else "Gem source is already removed.",
            f"The gem source {name} would have been {verb}.",
            f"Gem source was successfully {verb}.",
        ),
        {"sources": sources(ctx, gem)},
    )


@state
def sources_add(ctx: Context, name: str, *, ruby: str | None = None, user: str | None = None) -> Result:
    """Make sure that gems are fetched from a source.

    Args:
        name: the URL of the source.
        ruby: the Ruby version of rvm to set it for.
        user: the user whose setting it is.

    Example:
        ```yaml
        http://localhost:8000/gems/:
          gem.sources_add: []
        ```
    """
    return _source(ctx, name, ruby, user, wanted=True)


@state
def sources_remove(ctx: Context, name: str, *, ruby: str | None = None, user: str | None = None) -> Result:
    """Make sure that gems are not fetched from a source.

    Args:
        name: the URL of the source.
        ruby: the Ruby version of rvm to set it for.
        user: the user whose setting it is.

    Example:
        ```yaml
        https://rubygems.org/:
          gem.sources_remove: []
        ```
    """
    return _source(ctx, name, ruby, user, wanted=False)
