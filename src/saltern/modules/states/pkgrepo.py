"""``pkgrepo``: the repositories packages come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from saltern.language.result import Outcome, Result, failed
from saltern.modules.api import state
from saltern.modules.context import Context
from saltern.modules.packages import choose
from saltern.modules.packages.model import PackageError
from saltern.modules.packages.repositories.model import Plan, Wish
from saltern.modules.params import BadArgument

Planner = Callable[[Context, Wish], Plan]

COMMENT = (
    "Package repo '{}' would be {}. Packages that come from it are not known until then, so what "
    "this test says of them may be incomplete."
)


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
    """Configure a repository of packages, with the key it is signed with.

    Args:
        name: for apt the whole entry, ``deb [signed-by=/…] uri distribution components``; for dnf, yum
            and zypper the id of the repository; for apk its address.
        humanname: a name for people (``name`` in the file).
        baseurl, mirrorlist, metalink: the address, for dnf, yum and zypper.
        gpgcheck, gpgkey: whether packages must be signed, and where the keys are.
        gpgautoimport: accepted for Salt's sake; zypper takes the keys of ``gpgkey``.
        enabled: whether the repository is used.
        disabled: the opposite of ``enabled``.
        file: the file it goes into; for apt one that ends in ``.sources`` is written as deb822. If not
            given, the one that has it, else ``/etc/apt/sources.list`` or a file named like the id.
        dist, comps, architectures, signedby: parts of the entry of apt, instead of those in ``name``.
        key_url: where the key is: URLs, ``salt://`` or paths. What is on the web is fetched once.
        key_text: the key itself, armoured.
        keyid, keyserver: ids of keys, and the server to get them from.
        aptkey, allow_insecure_key, consolidate: accepted for Salt's sake. ``apt-key`` is not used: a key
            goes to the file ``signed-by`` names, else to ``trusted.gpg.d``.
        clean_file: the file holds this repository and nothing else.
        ppa: ``owner/name`` of a personal archive, for Ubuntu.
        copr: ``owner/project``, for Fedora.
        refresh, refresh_db: False leaves the lists of packages as they are after a change.

    Further arguments become values of the section, for dnf, yum and zypper.

    Example:
        ```yaml
        deb [signed-by=/etc/apt/keyrings/acme.asc] https://packages.acme.example/debian bookworm main:
          pkgrepo.managed:
            - file: /etc/apt/sources.list.d/acme.list
            - key_url: salt://keys/acme.asc
        ```
    """
    del aptkey, allow_insecure_key, consolidate, gpgautoimport
    said = {
        "name": humanname,
        "baseurl": baseurl,
        "mirrorlist": mirrorlist,
        "metalink": metalink,
        "gpgcheck": gpgcheck,
        "gpgkey": gpgkey,
        **values,
    }

    def work() -> Result:
        wish = Wish(
            name=name,
            file=file,
            enabled=_enabled(enabled, disabled),
            clean_file=clean_file,
            dist=dist,
            comps=_words(comps),
            architectures=",".join(_words(architectures)) or None,
            signedby=signedby,
            key_urls=_words(key_url),
            key_text=key_text,
            keyids=_words(keyid),
            keyserver=keyserver,
            values={key: value for key, value in said.items() if value is not None},
            ppa=ppa,
            copr=copr,
        )
        fetch = refresh is not False and refresh_db is not False
        words = (
            f"Package repo '{name}' already configured",
            "configured",
            f"Configured package repo '{name}'",
        )
        return _settle(ctx, _planner(ctx, "present")(ctx, wish), name, words, fetch=fetch)

    return _guarded(work)


@state
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
    """Remove a repository of packages; its key stays.

    Args:
        name: the repository, as for ``pkgrepo.managed``; for apt the components do not matter.
        file: look only into this file.
        ppa: ``owner/name`` of a personal archive, for Ubuntu.
        copr: ``owner/project``, for Fedora.
        refresh, refresh_db: False leaves the lists of packages as they are after a change.

    Example:
        ```yaml
        deb https://packages.acme.example/debian bookworm main:
          pkgrepo.absent
        ```
    """
    del rest  # a state often becomes absent by its function's name alone

    def work() -> Result:
        wish = Wish(name=name, file=file, ppa=ppa, copr=copr)
        fetch = refresh is not False and refresh_db is not False
        words = (f"Package repo {name} is absent", "removed", f"Removed repo {name}")
        return _settle(ctx, _planner(ctx, "absent")(ctx, wish), name, words, fetch=fetch)

    return _guarded(work)


def _settle(ctx: Context, plan: Plan, name: str, words: tuple[str, str, str], *, fetch: bool) -> Result:
    if not plan.changes:
        return Result(outcome=Outcome.OK, comment=words[0], data=plan.data)
    choose.stale(ctx)
    if ctx.test:
        comment = COMMENT.format(name, words[1])
        return Result(outcome=Outcome.WOULD_CHANGE, comment=comment, changes=plan.changes, data=plan.data)
    plan.act()
    warnings = _fetched(ctx) if fetch else ()
    return Result(
        outcome=Outcome.OK, comment=words[2], changes=plan.changes, data=plan.data, warnings=warnings
    )


def _fetched(ctx: Context) -> tuple[str, ...]:
    """Another repository that is broken does not make this one so; but it is worth a word."""
    try:
        choose.refresh(ctx, again=True)
    except PackageError as problem:
        return (f"the lists of packages could not be fetched: {problem}",)
    return ()


def _planner(ctx: Context, what: str) -> Planner:
    from saltern.modules.packages.repositories import apk, apt, rpm

    manager = choose.manager(ctx).name
    plain: Mapping[str, Planner] = {"apt": getattr(apt, what), "apk": getattr(apk, what)}
    if manager in plain:
        return plain[manager]
    if manager not in rpm.PLACES:
        raise PackageError(f"pkgrepo does not know the repositories of {manager}; use file.managed instead")
    return partial(getattr(rpm, what), place=rpm.PLACES[manager])


def _guarded(work: Callable[[], Result]) -> Result:
    try:
        return work()
    except BadArgument as refusal:
        return failed(str(refusal))
    except OSError as problem:
        return failed(f"{problem.filename}: {problem.strerror}" if problem.filename else str(problem))


def _enabled(enabled: bool | None, disabled: bool | None) -> bool | None:
    if enabled is not None and disabled is not None and enabled == disabled:
        raise BadArgument("enabled and disabled contradict each other; give one of them")
    return enabled if disabled is None else not disabled


def _words(value: object) -> tuple[str, ...]:
    """A list, or one text with commas."""
    if value is None:
        return ()
    items = value if isinstance(value, list | tuple) else str(value).split(",")
    return tuple(str(item).strip() for item in items if str(item).strip())
