"""``pkg.installed`` and ``pkg.latest``."""

from __future__ import annotations

from typing import Unpack

from msgspec.structs import replace

from saltern.language.result import Result, ok
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.groups import rest_of
from saltern.modules.api.params import BadArgument
from saltern.modules.api.unused_arguments import unused_warnings
from saltern.modules.lib.packages.choose import manager as manager_of
from saltern.modules.lib.packages.choose import refresh
from saltern.modules.lib.packages.desired_packages import LATEST, from_sources, read_wanted
from saltern.modules.lib.packages.model import PackageError
from saltern.modules.states.pkg.install_plan import Job, Terms, Wording, bring
from saltern.modules.states.pkg.words import MEANINGLESS, RepositoryArguments, how_from

INSTALLED = Wording(
    nothing="All specified packages are already installed",
    done="The following packages were installed/updated: {}",
    would="The following packages would be installed/updated: {}",
)
UPGRADED = Wording(
    nothing="All packages are up-to-date ({})",
    done="The following packages were successfully installed/upgraded: {}",
    would="The following packages would be installed/upgraded: {}",
)
KNOWN = ("version", "refresh", "fromrepo", "pkgs", "sources", "hold", "install_recommends", "update_holds")


@state
def installed(
    ctx: Context,
    /,
    name: str,
    *,
    version: str | None = None,
    refresh: bool | None = None,
    pkgs: object = None,
    sources: object = None,
    allow_updates: bool = False,
    normalize: bool = True,
    ignore_epoch: bool | None = None,
    reinstall: bool = False,
    update_holds: bool = False,
    hold: bool | None = None,
    install_recommends: bool = True,
    only_upgrade: bool = False,
    cache_valid_time: float | None = None,
    force_conf_new: bool = False,
    **origin: Unpack[RepositoryArguments],
) -> Result:
    """Install packages in one transaction.

    Args:
        name: the package; only a label if ``pkgs`` or ``sources`` is given.
        version: the version it must have: exact, with ``*``, ``>=1.2,<2``, or ``latest``.
        refresh: update the package lists first: True each time, False never; once per run, and
            only if something is missing, if not given.
        pkgs: several packages: names, and ``{name: version}``.
        sources: package files to install: ``{name: path, salt:// or URL}``.
        allow_updates: also accept a newer version than ``version``.
        normalize: treat ``name:arch`` with the machine's own architecture as ``name``.
        ignore_epoch: compare versions without their epochs; by default only if ``version`` has none.
        reinstall: reinstall installed packages.
        update_holds: also change held packages.
        hold: True holds the packages afterwards, False releases them.
        install_recommends: False leaves out recommended packages.
        only_upgrade: leave out packages that are not installed.
        cache_valid_time: seconds for which the package lists count as fresh.
        force_conf_new: install the new configuration files of the packages instead of keeping the old ones.

    Example:
        ```yaml
        web server:
          pkg.installed:
            - pkgs:
              - webserver: '>=1.0'
              - webserver-docs
        ```
    """
    manager = manager_of(ctx)
    if pkgs and sources:
        raise BadArgument("give either pkgs or sources, not both")
    if pkgs == [] or sources == []:
        return ok("No packages to install provided", manager=manager.name, packages={})
    plain_name = manager.plain_name if normalize else str
    wants = (
        from_sources(ctx, manager, sources)
        if sources
        else read_wanted(name, pkgs, version, plain_name=plain_name)
    )
    how = replace(
        how_from(origin),
        install_recommends=install_recommends,
        only_upgrade=only_upgrade,
        change_held=update_holds,
        new_config=force_conf_new,
    )
    terms = Terms(
        how=how,
        refresh=refresh,
        cache_valid_time=cache_valid_time,
        hold=hold,
        update_holds=update_holds,
        allow_updates=allow_updates,
        ignore_epoch=ignore_epoch,
        reinstall=reinstall,
    )
    notes = unused_warnings(rest_of(origin, RepositoryArguments), MEANINGLESS, KNOWN)
    return bring(Job(ctx=ctx, manager=manager, wants=wants, terms=terms, words=INSTALLED, notes=notes))


@state
def latest(
    ctx: Context,
    /,
    name: str,
    *,
    refresh: bool | None = None,
    pkgs: object = None,
    watch_flags: bool = True,
    normalize: bool = True,
    update_holds: bool = False,
    install_recommends: bool = True,
    only_upgrade: bool = False,
    cache_valid_time: float | None = None,
    force_conf_new: bool = False,
    **origin: Unpack[RepositoryArguments],
) -> Result:
    """Install the newest versions of packages, and keep them up to date.

    Args:
        name: the package; only a label if ``pkgs`` is given.
        pkgs: several packages, by name.
        refresh, normalize, update_holds, install_recommends, only_upgrade, force_conf_new: as for
            ``pkg.installed``.
        cache_valid_time: seconds for which the package lists count as fresh.
        watch_flags: accepted for compatibility with Salt.

    Example:
        ```yaml
        webserver:
          pkg.latest:
            - refresh: true
        ```
    """
    del watch_flags

    manager = manager_of(ctx)
    if pkgs == []:
        return ok("No packages to install provided", manager=manager.name, packages={})
    named = read_wanted(name, pkgs, plain_name=manager.plain_name if normalize else str)
    if versioned := [one.name for one in named if one.version]:
        raise BadArgument(f"pkg.latest takes no versions, but {', '.join(versioned)} has one")
    wants = [read_wanted(one.name, None, LATEST)[0] for one in named]
    how = replace(
        how_from(origin),
        install_recommends=install_recommends,
        only_upgrade=only_upgrade,
        change_held=update_holds,
        new_config=force_conf_new,
    )
    terms = Terms(how=how, refresh=refresh, cache_valid_time=cache_valid_time, update_holds=update_holds)
    # Without fresh lists the newest version is only the newest known one.
    if refresh is None:
        _fresh(ctx, cache_valid_time)
    notes = unused_warnings(rest_of(origin, RepositoryArguments), MEANINGLESS, KNOWN)
    return bring(Job(ctx=ctx, manager=manager, wants=wants, terms=terms, words=UPGRADED, notes=notes))


def _fresh(ctx: Context, valid_for: float | None) -> None:
    try:
        refresh(ctx, valid_for=valid_for)
    except PackageError:
        return  # old lists are better than none
