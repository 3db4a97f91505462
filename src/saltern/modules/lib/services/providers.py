"""Choose the service manager of this machine: the first row that fits, once per run.

The option ``providers: {service: openrc}`` sets it, as in Salt.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import has
from saltern.modules.api.refused import Refused
from saltern.modules.lib.services.manager import Manager

REMEMBERED = "services.manager"


class Provider(Struct, frozen=True):
    name: str
    suits: Callable[[], bool]
    make: Callable[[Context], Manager]
    aliases: tuple[str, ...] = ()


def _systemd(ctx: Context) -> Manager:
    from saltern.modules.lib.services.systemd import Systemd

    return Systemd(ctx)


def _openrc(ctx: Context) -> Manager:
    from saltern.modules.lib.services.openrc import OpenRc

    return OpenRc(ctx)


def _sysv(ctx: Context) -> Manager:
    from saltern.modules.lib.services.sysv import InitScripts

    return InitScripts(ctx)


def _offline(ctx: Context) -> Manager:
    from saltern.modules.lib.services.offline import Offline

    return Offline(ctx)


def _no_init_runs() -> bool:
    from saltern.modules.lib.services.offline import is_offline

    return is_offline()


PROVIDERS: tuple[Provider, ...] = (
    # A systemd that is installed but did not boot the machine, as in containers, only creates links.
    Provider(
        "systemd",
        lambda: os.path.isdir("/run/systemd/system") and not _no_init_runs(),
        _systemd,
        ("systemd_service",),
    ),
    Provider(
        "openrc", lambda: os.path.isdir("/run/openrc") or has("rc-service"), _openrc, ("gentoo_service",)
    ),
    Provider(
        "sysv",
        lambda: os.path.isdir("/etc/init.d") and not _no_init_runs(),
        _sysv,
        ("debian_service", "rh_service", "linux_service"),
    ),
    Provider("offline", _no_init_runs, _offline),
)


def _nothing(ctx: Context) -> Manager:  # noqa: ARG001
    from saltern.modules.lib.services.no_manager import Nothing

    return Nothing()


NONE = Provider("none", lambda: True, _nothing)


def manager(ctx: Context) -> Manager:
    """The service manager; on a machine without one, a manager without services."""
    found = ctx.run.context.get(REMEMBERED)
    if found is None:
        found = ctx.run.context[REMEMBERED] = choose_provider(ctx).make(Context(ctx.run))
    return found  # type: ignore[return-value]


def choose_provider(ctx: Context) -> Provider:
    """The row of this machine, or the configured one."""
    options = ctx.opts.get("providers")
    asked = options.get("service") if isinstance(options, Mapping) else None
    for provider in PROVIDERS:
        if asked in (provider.name, *provider.aliases) if asked else provider.suits():
            return provider
    if asked:
        names = ", ".join(provider.name for provider in PROVIDERS)
        raise Refused(f"no service manager is called {asked!r}; there are {names}")
    return NONE
