"""``pkgrepo``: package repositories."""

from __future__ import annotations

from msgspec import Struct

from saltern.language.mask import mask
from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.lib.packages import choose
from saltern.modules.lib.packages.model import PackageError
from saltern.modules.lib.packages.repositories.model import RepositoryPlan
from saltern.modules.lib.packages.repositories.repository_plan import (
    desired_repository,
    planner,
    refuse_unsafe,
)

COMMENT = (
    "Package repo '{}' would be {}. Its packages are unknown until then, so what "
    "this test run says about them may be incomplete."
)


class Fetch(Struct, frozen=True, kw_only=True):
    """Whether to update the package lists after a change, and whether to trust new keys then."""

    wanted: bool
    trust: bool = False


@state
def managed(
    ctx: Context,
    /,
    name: str,
    *,
    humanname: str | None = None,
    baseurl: object = None,
    mirrorlist: str | None = None,
    metalink: str | None = None,
    gpgcheck: bool | None = None,
    gpgkey: object = None,
    gpgautoimport: bool | None = None,
    enabled: bool | None = None,
    disabled: bool | None = None,
    file: str | None = None,
    dist: str | None = None,
    comps: object = None,
    architectures: object = None,
    signedby: str | None = None,
    key_url: object = None,
    key_text: str | None = None,
    keyid: object = None,
    keyserver: str | None = None,
    aptkey: bool = True,
    allow_insecure_key: bool = True,
    clean_file: bool = False,
    consolidate: bool = False,
    ppa: str | None = None,
    copr: str | None = None,
    refresh: bool | None = None,
    refresh_db: bool | None = None,
    **values: object,
) -> Result:
    """Configure a package repository, with its signing key.

    Args:
        name: for apt the whole entry, ``deb [signed-by=/…] uri distribution components``; for dnf, yum
            and zypper the ID of the repository; for apk its URL.
        humanname: the display name (``name`` in the file).
        baseurl, mirrorlist, metalink: the URL, for dnf, yum and zypper.
        gpgcheck, gpgkey: whether packages must be signed, and where to find the keys.
        gpgautoimport: trust the signing key of the repository, for zypper.
        enabled: whether the repository is used.
        disabled: the opposite of ``enabled``.
        file: the file to write it to; for apt, a file ending in ``.sources`` is written as deb822. If not
            given, the file that has it already, else ``/etc/apt/sources.list`` or a file named after the ID.
        dist, comps, architectures, signedby: parts of the entry of apt, instead of those in ``name``.
        key_url: the location of the key: URLs, ``salt://`` or paths. A key from the web is fetched once.
        key_text: the key itself, armoured.
        keyid, keyserver: IDs of keys, and the server to get them from.
        aptkey, allow_insecure_key, consolidate: accepted for compatibility with Salt. ``apt-key`` is not
            used: a key is written to the file that ``signed-by`` names, else to ``trusted.gpg.d``.
        clean_file: make this repository the only content of the file.
        ppa: ``owner/name`` of a personal archive, for Ubuntu.
        copr: ``owner/project``, for Fedora.
        refresh, refresh_db: False does not update the package lists after a change.

    Further arguments become values of the section, for dnf, yum and zypper. For apt, ``trusted`` sets whether
    the repository may be used without a signature; for zypper, ``url`` is an alias of ``baseurl``, and
    ``cache`` keeps downloaded packages.

    Example:
        ```yaml
        deb [trusted=yes] copy:/srv/packages ./:
          pkgrepo.managed:
            - file: /etc/apt/sources.list.d/acme.list
        ```
    """
    del aptkey, allow_insecure_key, consolidate
    said = {
        "humanname": humanname,
        "enabled": enabled,
        "disabled": disabled,
        "baseurl": baseurl,
        "mirrorlist": mirrorlist,
        "metalink": metalink,
        "gpgcheck": gpgcheck,
        "gpgkey": gpgkey,
        "file": file,
        "dist": dist,
        "comps": comps,
        "architectures": architectures,
        "signedby": signedby,
        "key_url": key_url,
        "key_text": key_text,
        "keyid": keyid,
        "keyserver": keyserver,
        "clean_file": clean_file,
        "ppa": ppa,
        "copr": copr,
        **values,
    }

    shown = mask(name)
    fetch = Fetch(wanted=refresh is not False and refresh_db is not False, trust=bool(gpgautoimport))
    words = (
        f"Package repo '{shown}' already configured",
        "configured",
        f"Configured package repo '{shown}'",
    )
    return _settle(
        ctx, planner(ctx, "present")(ctx, desired_repository(name, said)), shown, words, fetch=fetch
    )


@state(removes=True)
def absent(
    ctx: Context,
    /,
    name: str,
    *,
    file: str | None = None,
    ppa: str | None = None,
    copr: str | None = None,
    refresh: bool | None = None,
    refresh_db: bool | None = None,
    **rest: object,
) -> Result:
    """Remove a package repository; its key stays.

    Args:
        name: the repository, as for ``pkgrepo.managed``; for apt the components do not matter.
        file: look only in this file.
        ppa: ``owner/name`` of a personal archive, for Ubuntu.
        copr: ``owner/project``, for Fedora.
        refresh, refresh_db: False does not update the package lists after a change.

    Example:
        ```yaml
        deb [trusted=yes] copy:/srv/packages ./:
          pkgrepo.absent: []
        ```
    """
    refuse_unsafe("pkgrepo.absent", rest)  # others pass: often only the state's function is changed
    shown = mask(name)
    fetch = Fetch(wanted=refresh is not False and refresh_db is not False)
    words = (f"Package repo {shown} is absent", "removed", f"Removed repo {shown}")
    want = desired_repository(name, {"file": file, "ppa": ppa, "copr": copr})
    return _settle(ctx, planner(ctx, "absent")(ctx, want), shown, words, fetch=fetch)


def _settle(
    ctx: Context, plan: RepositoryPlan, name: str, words: tuple[str, str, str], *, fetch: Fetch
) -> Result:
    already, would, done = words
    if plan.changes:
        choose.stale(ctx)
        if not ctx.test:
            plan.act()
            ctx.warnings += _update_lists(ctx, trust=fetch.trust) if fetch.wanted else ()
    said = Words(already, COMMENT.format(name, would), done)
    return result_of(ctx, mask(plan.changes), said, mask(plan.data))


def _update_lists(ctx: Context, *, trust: bool) -> tuple[str, ...]:
    """Update the package lists; a warning if that fails, since another repository may be the cause."""
    try:
        choose.refresh(ctx, again=True, trust=trust)
    except PackageError as problem:
        return (f"the package lists could not be updated: {problem}",)
    return ()
