"""``pkg`` functions for repositories and their signing keys."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import os

from saltern.language.mask import mask
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.packages import choose
from saltern.modules.lib.packages.model import PackageError


@function
def list_repos(ctx: Context, /, **_: object) -> dict[str, object]:
    """The configured repositories with their settings; passwords are shown as ``***``.

    For apt lists by URL; for others mappings by ID.

    Example:
        ```console
        $ saltern call pkg.list_repos
        ```
    """
    return mask(_configured_repositories(ctx))


def _configured_repositories(ctx: Context) -> dict[str, object]:
    from saltern.modules.lib.packages.repositories import apk, apt, rpm

    name = choose.manager(ctx).name
    if name in rpm.PLACES:
        return dict(rpm.repositories(ctx, rpm.PLACES[name]))
    if name == "apk":
        return dict(apk.configured_repositories(ctx))
    if name != "apt":
        raise PackageError(f"saltern does not know the repositories of {name}")
    return {
        uri: [apt.describe_entry(path, entry) for path, entry in found]
        for uri, found in apt.configured_repositories(ctx).items()
    }


@function
def get_repo(ctx: Context, /, repo: str, **_: object) -> dict[str, object]:
    """The settings of one repository; empty if it is not configured. Passwords are shown as ``***``.

    Args:
        repo: for apt the entry (``deb uri distribution``), for apk the line, else the ID.

    Example:
        ```console
        $ saltern call pkg.get_repo 'deb http://deb.debian.org/debian bookworm main'
        ```
    """
    from saltern.modules.lib.packages.repositories import apt, lines

    if choose.manager(ctx).name != "apt":
        found = _configured_repositories(ctx).get(repo)
        return mask(dict(found)) if isinstance(found, dict) else {}
    entry = lines.parse_line(repo)
    if entry is None:
        raise BadArgument(f"{mask(repo)!r} is not a repository of apt; write it as 'deb uri distribution'")
    for path, one in (pair for found in apt.configured_repositories(ctx).values() for pair in found):
        if one.key == entry.key:
            return mask(apt.describe_entry(path, one))
    return {}


@function
def mod_repo(ctx: Context, /, repo: str, **values: object) -> dict[str, object]:
    """Add or change a repository. The state for it is ``pkgrepo.managed``.

    Args:
        repo: as for ``pkgrepo.managed``, whose other arguments may be given, too.

    Example:
        ```console
        $ saltern call pkg.mod_repo 'deb [trusted=yes] copy:/srv/packages ./' refresh=false
        ```
    """
    from saltern.modules.lib.packages.repositories.repository_plan import desired_repository, planner

    plan = planner(ctx, "present")(ctx, desired_repository(repo, values))
    if plan.changes:
        plan.act()
        choose.stale(ctx)
        if values.get("refresh", True) and values.get("refresh_db", True):
            choose.refresh(ctx, again=True, trust=bool(values.get("gpgautoimport")))
    return {mask(repo): mask(plan.data)}


@function
def del_repo(ctx: Context, /, repo: str, **values: object) -> str:
    """Remove a repository. Returns what was done. The state for it is ``pkgrepo.absent``.

    Args:
        repo: as for ``pkgrepo.absent``, whose other arguments may be given, too.

    Example:
        ```console
        $ saltern call pkg.del_repo 'deb https://packages.acme.example/debian bookworm'
        ```
    """
    from saltern.modules.lib.packages.repositories.repository_plan import desired_repository, planner

    plan = planner(ctx, "absent")(ctx, desired_repository(repo, values))
    if not plan.changes:
        return f"Repo {mask(repo)} is not configured"
    plan.act()
    choose.stale(ctx)
    return f"Repo {mask(repo)} has been removed"


# -- keys --------------------------------------------------------------------------------------


def _only_apt(ctx: Context) -> str:
    """The directory of the keys that apt trusts for all repositories."""
    from saltern.modules.lib.packages.apt import Apt

    manager = choose.manager(ctx)
    if not isinstance(manager, Apt):
        raise PackageError(
            f"{manager.name} uses the key that a repository names; set gpgkey with pkgrepo.managed"
        )
    return f"{manager.place('Dir::Etc')}/trusted.gpg.d"


@function
def get_repo_keys(ctx: Context, aptkey: bool = True, keydir: str | None = None) -> dict[str, object]:
    """The keys that apt trusts for all repositories, by their short IDs.

    Args:
        aptkey: accepted for compatibility with Salt.
        keydir: another directory to look in.

    Example:
        ```console
        $ saltern call pkg.get_repo_keys
        ```
    """
    from saltern.modules.lib.packages.repositories import keys

    place = keydir or _only_apt(ctx)
    names = sorted(os.listdir(place)) if os.path.isdir(place) else []
    paths = [os.path.join(place, name) for name in names if name.endswith((".gpg", ".asc"))]
    return {str(key["keyid"]): key for path in paths for key in keys.describe_keys(ctx, path)}


@function
def add_repo_key(
    ctx: Context,
    path: str | None = None,
    text: str | None = None,
    keyserver: str | None = None,
    keyid: str | None = None,
    saltenv: str | None = None,
    aptkey: bool = True,
    keydir: str | None = None,
    keyfile: str | None = None,
) -> bool:
    """Make apt trust a key for all repositories. ``signed-by`` of ``pkgrepo.managed`` is safer: it is for one
    repository.

    Args:
        path: the file of the key, ``salt://``, a path or a URL.
        text: the key itself, armoured.
        keyserver, keyid: a server, and the ID of the key to get from it.
        saltenv, aptkey: accepted for compatibility with Salt.
        keydir: another directory to write it to.
        keyfile: the name of its file there.

    Example:
        ```console
        $ saltern call pkg.add_repo_key /usr/share/keyrings/debian-archive-keyring.gpg
        local:
            True
        ```
    """
    from saltern.modules.lib.packages.repositories import apt, keys

    place = keydir or _only_apt(ctx)
    if path:
        data = keys.fetch_key(ctx, path)
    elif text:
        data = keys.check_key(text.encode(), "text")
    elif keyid:
        data = keys.from_server(ctx, [keyid], keyserver or apt.SERVER)
    else:
        raise BadArgument("pkg.add_repo_key needs a path, a text, or a keyid")
    name = keyfile or _key_name(path, keyid)
    if os.path.basename(name) != name or not name.endswith((".asc", ".gpg")):
        raise BadArgument(f"{name!r} cannot name the file of a key; its name must end in .asc or .gpg")
    ctx.host.makedirs(place)
    ctx.host.write(os.path.join(place, name), keys.for_file(data, name), mode=apt.KEY_MODE)
    return True


def _key_name(path: str | None, keyid: str | None) -> str:
    if not path:
        return f"{keyid}.asc" if keyid else "saltern.asc"
    name = path.rpartition("/")[2].partition("?")[0]
    return name if name.endswith((".asc", ".gpg")) else f"{name}.asc"


@function
def del_repo_key(
    ctx: Context,
    name: str | None = None,
    keyid: str | None = None,
    aptkey: bool = True,
    keydir: str | None = None,
) -> bool:
    """Remove a key that apt trusts for all repositories; False if there is no such key.

    Args:
        name: the file of the key.
        keyid: the ID of the key, if the file is not known.
        aptkey: accepted for compatibility with Salt.
        keydir: another directory to look in.

    Example:
        ```console
        $ saltern call pkg.del_repo_key keyid=0123456789ABCDEF
        local:
            False
        ```
    """
    from saltern.modules.lib.packages.repositories import keys

    place = keydir or _only_apt(ctx)
    if not name and not keyid:
        raise BadArgument("pkg.del_repo_key needs the name of the file, or the keyid")
    there = sorted(os.listdir(place)) if os.path.isdir(place) else []
    wanted = str(keyid or "").upper().removeprefix("0X")
    gone = False
    for file in there:
        path = os.path.join(place, file)
        ids = keys.key_ids(ctx, path) if keyid else []
        if file == name or any(one.endswith(wanted) for one in ids):
            gone = ctx.host.remove(path) or gone
    return gone
