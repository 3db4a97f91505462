"""``service``: asking and moving the services of this machine."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import filter as fitting

from saltern.modules.api import function
from saltern.modules.context import Context
from saltern.modules.machine import Refused
from saltern.modules.services.manager import Service
from saltern.modules.services.processes import pids_of
from saltern.modules.services.providers import manager

# ruff: noqa: ARG001 - signatures are Salt's


@function
def status(ctx: Context, /, name: str, sig: str | None = None, **kwargs: object) -> object:
    """Whether a service runs; for a pattern such as ``ssh*``, a mapping of all that fit."""
    if sig:
        return bool(pids_of(sig))
    managing = manager(ctx)
    if any(sign in name for sign in "*?["):
        return {one: managing.look(one).running for one in fitting(managing.names(), name)}
    return managing.look(name).running


@function
def available(ctx: Context, name: str) -> bool:
    """Whether there is such a service."""
    return manager(ctx).look(name).exists


@function
def missing(ctx: Context, name: str) -> bool:
    """Whether there is no such service."""
    return not manager(ctx).look(name).exists


@function
def enabled(ctx: Context, /, name: str, **kwargs: object) -> bool:
    """Whether a service starts at boot. One that something else starts counts as enabled."""
    seen = manager(ctx).look(name)
    return seen.exists and seen.enabled is not False


@function
def disabled(ctx: Context, /, name: str, **kwargs: object) -> bool:
    """Whether a service does not start at boot."""
    seen = manager(ctx).look(name)
    return not seen.exists or seen.enabled is False


@function
def masked(ctx: Context, name: str, runtime: bool = False) -> bool:
    """Whether a service is masked (until the next boot)."""
    return manager(ctx).look(name).masked == ("runtime masked" if runtime else "masked")


def _names(ctx: Context, fits: Callable[[Service], bool]) -> list[str]:
    managing = manager(ctx)
    return [name for name in managing.names() if fits(managing.look(name))]


@function
def get_all(ctx: Context) -> list[str]:
    """Every service."""
    return manager(ctx).names()


@function
def get_running(ctx: Context) -> list[str]:
    """Every service that runs."""
    return _names(ctx, lambda seen: seen.running)


@function
def get_enabled(ctx: Context) -> list[str]:
    """Every service that starts at boot."""
    return _names(ctx, lambda seen: seen.enabled is True)


@function
def get_disabled(ctx: Context) -> list[str]:
    """Every service that does not start at boot."""
    return _names(ctx, lambda seen: seen.enabled is False)


@function
def show(ctx: Context, name: str) -> dict[str, object]:
    """All that is known of a service; from systemd, every property of the unit."""
    managing = manager(ctx)
    from saltern.modules.services.systemd import Systemd

    if isinstance(managing, Systemd):
        return dict(managing.show(name, ""))
    return managing.look(name).asdict()


@function
def start(ctx: Context, /, name: str, no_block: bool = False, unmask: bool = False, **kwargs: object) -> bool:
    """Start a service."""
    if unmask:
        manager(ctx).unmask(name)
    manager(ctx).start(name, no_block=no_block)
    return True


@function
def stop(ctx: Context, /, name: str, no_block: bool = False, **kwargs: object) -> bool:
    """Stop a service."""
    manager(ctx).stop(name, no_block=bool(no_block))
    return True


@function
def restart(ctx: Context, /, name: str, no_block: bool = False, **kwargs: object) -> bool:
    """Stop a service and start it again."""
    manager(ctx).restart(name, no_block=bool(no_block))
    return True


@function
def reload(ctx: Context, /, name: str, no_block: bool = False, **kwargs: object) -> bool:
    """Let a service read its configuration again."""
    manager(ctx).reload(name, no_block=no_block)
    return True


@function
def force_reload(ctx: Context, /, name: str, no_block: bool = False, **kwargs: object) -> bool:
    """Let a service read its configuration again, by a restart if need be."""
    manager(ctx).force_reload(name, no_block=no_block)
    return True


@function
def enable(ctx: Context, /, name: str, **kwargs: object) -> bool:
    """Let a service start at boot."""
    manager(ctx).enable(name)
    return True


@function
def disable(ctx: Context, /, name: str, **kwargs: object) -> bool:
    """Let a service not start at boot."""
    manager(ctx).disable(name)
    return True


@function
def mask(ctx: Context, name: str, runtime: bool = False) -> bool:
    """Let a service not be started at all."""
    manager(ctx).mask(name, runtime=runtime)
    return True


@function
def unmask(ctx: Context, name: str, runtime: bool = False) -> bool:
    """Let a service be started again."""
    manager(ctx).unmask(name, runtime=runtime)
    return True


@function
def systemctl_reload(ctx: Context) -> bool:
    """Let systemd read its unit files again."""
    from saltern.modules.services.systemd import Systemd

    managing = manager(ctx)
    if not isinstance(managing, Systemd):
        raise Refused("this machine is not run by systemd")
    managing.daemon_reload()
    return True
