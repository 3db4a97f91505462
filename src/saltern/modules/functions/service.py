"""``service``: query and control the services of this machine."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import filter as fitting

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib.services.manager import Service
from saltern.modules.lib.services.processes import pids_of
from saltern.modules.lib.services.providers import manager

# ruff: noqa: ARG001 - signatures are Salt's


@function
def status(ctx: Context, /, name: str, sig: str | None = None, **kwargs: object) -> object:
    """True if a service runs; for a pattern such as ``ssh*``, a mapping of all that match.

    Example:
        ```console
        $ saltern call service.status nginx
        local:
            False
        ```
    """
    if sig:
        return bool(pids_of(sig))
    managing = manager(ctx)
    if any(sign in name for sign in "*?["):
        return {one: managing.look(one).running for one in fitting(managing.names(), name)}
    return managing.look(name).running


@function
def available(ctx: Context, name: str) -> bool:
    """True if a service exists.

    Example:
        ```console
        $ saltern call service.available nginx
        local:
            True
        ```
    """
    return manager(ctx).look(name).exists


@function
def missing(ctx: Context, name: str) -> bool:
    """True if a service does not exist.

    Example:
        ```console
        $ saltern call service.missing nginx
        local:
            False
        ```
    """
    return not manager(ctx).look(name).exists


@function
def enabled(ctx: Context, /, name: str, **kwargs: object) -> bool:
    """True if a service starts at boot. A service that another unit starts counts as enabled.

    Example:
        ```console
        $ saltern call service.enabled apache2
        local:
            True
        ```
    """
    seen = manager(ctx).look(name)
    return seen.exists and seen.enabled is not False


@function
def disabled(ctx: Context, /, name: str, **kwargs: object) -> bool:
    """True if a service does not start at boot.

    Example:
        ```console
        $ saltern call service.disabled nginx
        local:
            True
        ```
    """
    seen = manager(ctx).look(name)
    return not seen.exists or seen.enabled is False


@function
def masked(ctx: Context, name: str, runtime: bool = False) -> bool:
    """True if a service is masked (until the next boot).

    Example:
        ```console
        $ saltern call service.masked nginx
        local:
            False
        ```
    """
    return manager(ctx).look(name).masked == ("runtime masked" if runtime else "masked")


def _names(ctx: Context, fits: Callable[[Service], bool]) -> list[str]:
    managing = manager(ctx)
    return [name for name in managing.names() if fits(managing.look(name))]


@function
def get_all(ctx: Context) -> list[str]:
    """Every service.

    Example:
        ```console
        $ saltern call service.get_all
        ```
    """
    return manager(ctx).names()


@function
def get_running(ctx: Context) -> list[str]:
    """Every service that runs.

    Example:
        ```console
        $ saltern call service.get_running
        ```
    """
    return _names(ctx, lambda seen: seen.running)


@function
def get_enabled(ctx: Context) -> list[str]:
    """Every service that starts at boot.

    Example:
        ```console
        $ saltern call service.get_enabled
        ```
    """
    return _names(ctx, lambda seen: seen.enabled is True)


@function
def get_disabled(ctx: Context) -> list[str]:
    """Every service that does not start at boot.

    Example:
        ```console
        $ saltern call service.get_disabled
        ```
    """
    return _names(ctx, lambda seen: seen.enabled is False)


@function
def show(ctx: Context, name: str) -> dict[str, object]:
    """The data of a service; with systemd, all properties of the unit.

    Example:
        ```console
        $ saltern call service.show nginx
        local:
        …
            running:
                False
        …
        ```
    """
    managing = manager(ctx)
    from saltern.modules.lib.services.systemd import Systemd

    if isinstance(managing, Systemd):
        return dict(managing.show(name, ""))
    return managing.look(name).asdict()


@function
def start(ctx: Context, /, name: str, no_block: bool = False, unmask: bool = False, **kwargs: object) -> bool:
    """Start a service.

    Example:
        ```console
        $ saltern call service.start nginx
        local:
            True
        ```
    """
    if unmask:
        manager(ctx).unmask(name)
    manager(ctx).start(name, no_block=no_block)
    return True


@function
def stop(ctx: Context, /, name: str, no_block: bool = False, **kwargs: object) -> bool:
    """Stop a service.

    Example:
        ```console
        $ saltern call service.stop nginx
        local:
            True
        ```
    """
    manager(ctx).stop(name, no_block=bool(no_block))
    return True


@function
def restart(ctx: Context, /, name: str, no_block: bool = False, **kwargs: object) -> bool:
    """Stop a service and start it again.

    Example:
        ```console
        $ saltern call service.restart nginx
        local:
            True
        ```
    """
    manager(ctx).restart(name, no_block=bool(no_block))
    return True


@function
def reload(ctx: Context, /, name: str, no_block: bool = False, **kwargs: object) -> bool:
    """Reload the configuration of a service.

    Example:
        ```console
        $ saltern call service.start nginx
        $ saltern call service.reload nginx
        local:
            True
        ```
    """
    manager(ctx).reload(name, no_block=no_block)
    return True


@function
def force_reload(ctx: Context, /, name: str, no_block: bool = False, **kwargs: object) -> bool:
    """Reload the configuration of a service, or restart it if it cannot reload.

    Example:
        ```console
        $ saltern call service.start nginx
        $ saltern call service.force_reload nginx
        local:
            True
        ```
    """
    manager(ctx).force_reload(name, no_block=no_block)
    return True


@function
def enable(ctx: Context, /, name: str, **kwargs: object) -> bool:
    """Enable a service: start it at boot.

    Example:
        ```console
        $ saltern call service.enable nginx
        local:
            True
        ```
    """
    manager(ctx).enable(name)
    return True


@function
def disable(ctx: Context, /, name: str, **kwargs: object) -> bool:
    """Disable a service: do not start it at boot.

    Example:
        ```console
        $ saltern call service.disable apache2
        local:
            True
        ```
    """
    manager(ctx).disable(name)
    return True


@function
def mask(ctx: Context, name: str, runtime: bool = False) -> bool:
    """Mask a service, so that it cannot be started.

    Example:
        ```console
        $ saltern call service.mask cups
        ```
    """
    manager(ctx).mask(name, runtime=runtime)
    return True


@function
def unmask(ctx: Context, name: str, runtime: bool = False) -> bool:
    """Unmask a service, so that it can be started again.

    Example:
        ```console
        $ saltern call service.unmask cups
        ```
    """
    manager(ctx).unmask(name, runtime=runtime)
    return True


@function
def systemctl_reload(ctx: Context) -> bool:
    """Make systemd read its unit files again.

    Example:
        ```console
        $ saltern call service.systemctl_reload
        ```
    """
    from saltern.modules.lib.services.systemd import Systemd

    managing = manager(ctx)
    if not isinstance(managing, Systemd):
        raise Refused("this machine is not run by systemd")
    managing.daemon_reload()
    return True


@function
def get_static(ctx: Context) -> list[str]:
    """All services that can be neither enabled nor disabled: another unit starts them.

    Example:
        ```console
        $ saltern call service.get_static
        ```
    """
    return _names(ctx, lambda seen: seen.exists and seen.enabled is None)


@function
def execs(ctx: Context) -> dict[str, str]:
    """The program of each service, if systemd knows it.

    Example:
        ```console
        $ saltern call service.execs
        ```
    """
    from saltern.modules.lib.services.systemd import Systemd

    managing = manager(ctx)
    if not isinstance(managing, Systemd):
        return {}
    found = {name: _program(managing.show(name, "").get("ExecStart", "")) for name in managing.names()}
    return {name: path for name, path in found.items() if path}


def _program(started: str) -> str:
    """The program in ``{ path=/usr/sbin/cron ; argv[]=… }``."""
    return started.partition("path=")[2].partition(" ;")[0].strip()


@function
def offline(ctx: Context) -> bool:
    """True if systemd is installed but does not run this machine, as in an image build.

    Example:
        ```console
        $ saltern call service.offline
        ```
    """
    from saltern.modules.lib.services.systemd import Systemd

    managing = manager(ctx)
    unbooted = isinstance(managing, Systemd) and not ctx.host.exists("/run/systemd/system")
    return unbooted or managing.kind == "offline"
