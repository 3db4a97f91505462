"""Choose the package manager of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.lib.packages.model import Manager, PackageError

if TYPE_CHECKING:
    from saltern.system.clock import Clock
    from saltern.system.host import Host

CHOSEN, FRESH, PENDING = "packages.manager", "packages.fresh", "packages.pending"
EXPECTED = "packages.expected"


class Row(Struct, frozen=True):
    """A manager: its OS families, its program, and the location of its class."""

    name: str
    families: tuple[str, ...]
    program: str
    place: tuple[str, str]


MANAGERS: tuple[Row, ...] = (
    Row("apt", ("Debian",), "apt-get", ("apt", "Apt")),
    Row("dnf", ("RedHat",), "dnf", ("dnf", "Dnf")),
    Row("yum", ("RedHat",), "yum", ("dnf", "Yum")),
    Row("zypper", ("Suse",), "zypper", ("zypper", "Zypper")),
    Row("apk", ("Alpine",), "apk", ("apk", "Apk")),
    Row("pacman", ("Arch",), "pacman", ("pacman", "Pacman")),
)


def choose(grains: Mapping[str, object], present: Callable[[str], bool]) -> Row:
    """The manager of the OS family, else any that is installed."""
    family = grains.get("os_family")
    there = [row for row in MANAGERS if present(row.program)]
    if not there:
        known = ", ".join(row.name for row in MANAGERS)
        raise PackageError(f"no package manager was found on this machine; saltern knows {known}")
    return next((row for row in there if family in row.families), there[0])


def manager(ctx: Context) -> Manager:
    """The package manager of this machine, chosen once per run."""
    found = ctx.run.context.get(CHOSEN)
    if found is None:
        from shutil import which

        row = choose(ctx.grains, lambda program: which(program) is not None)
        found = ctx.run.context[CHOSEN] = make(row, ctx.host, ctx.clock)
    return cast("Manager", found)


def make(row: Row, host: Host, clock: Clock) -> Manager:
    from importlib import import_module

    module, name = row.place
    made = getattr(import_module(f"saltern.modules.lib.packages.{module}"), name)(host, clock)
    return cast("Manager", made)


def refresh(
    ctx: Context, *, valid_for: float | None = None, again: bool = False, trust: bool = False
) -> bool:
    """Update the package lists, once per run unless ``again``. Returns true if it was done."""
    if ctx.run.context.get(FRESH) and not again:
        return False
    if ctx.test and not ctx.settings.refresh_in_test:
        ctx.run.context[PENDING] = True
        return False
    chosen = manager(ctx)
    if valid_for and 0 <= ctx.clock.now() - chosen.refreshed_at() < valid_for:  # not from the future
        return False
    chosen.refresh(trust=trust)
    ctx.run.context[FRESH] = True
    return True


def stale(ctx: Context) -> None:
    """Note that the repositories have changed, or would have in test mode."""
    ctx.run.context[FRESH] = False
    if ctx.test:
        ctx.run.context[PENDING] = True


def pending(ctx: Context) -> bool:
    """True if this test run would have added a repository or updated lists that may have more packages."""
    return ctx.test and bool(ctx.run.context.get(PENDING))


def expect(ctx: Context, names: Iterable[str]) -> None:
    """Note packages that this test run would install."""
    ctx.run.context[EXPECTED] = expected_names(ctx).union(names)


def expected_names(ctx: Context) -> frozenset[str]:
    """The packages that earlier states of this test run would install."""
    return cast("frozenset[str]", ctx.run.context.get(EXPECTED, frozenset())) if ctx.test else frozenset()
