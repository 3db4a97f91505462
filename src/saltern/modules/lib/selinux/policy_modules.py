"""Modules of the policy."""

from __future__ import annotations

import os

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused
from saltern.modules.lib import addresses
from saltern.system.temporary import private_directory

ENABLED = {"1": True, "on": True, "yes": True, "true": True, "enabled": True}
DISABLED = {"0": False, "off": False, "no": False, "false": False, "disabled": False}


class Module(Struct, frozen=True):
    enabled: bool
    priorities: tuple[str, ...]


def read(ctx: Context) -> dict[str, Module]:
    """All modules; a module may be installed at several priorities."""
    found: dict[str, Module] = {}
    for line in tool(ctx, "semodule", "--list-modules=full").out.splitlines():
        words = line.split()
        if len(words) >= 2:
            known = found.get(words[1], Module(True, ()))
            enabled = known.enabled and "disabled" not in words[3:]
            found[words[1]] = Module(enabled, (*known.priorities, words[0]))
    return found


def switched(value: object, name: str) -> bool:
    """True for ``enabled``, false for ``disabled``."""
    known = {**ENABLED, **DISABLED}
    if str(value).lower() not in known:
        raise Refused(f"{value} is not a valid state for the {name} module; use enabled or disabled")
    return known[str(value).lower()]


def switch(ctx: Context, name: str, enabled: bool) -> None:
    tool(ctx, "semodule", "--enable" if enabled else "--disable", name)


def source(ctx: Context, path: str) -> str:
    """The file of a module. Raises ``Refused`` if it does not exist; in test mode it may still be created."""
    found = addresses.on_disk(ctx, path)
    if found is None and ctx.test and os.path.isabs(path):
        return path
    if found is None:
        raise Refused(f"there is no file {path} to install a module from; give an absolute path or salt://…")
    return found


def name_of(path: str) -> str:
    """The name of a module, which semodule takes from its file."""
    return os.path.basename(path).partition(".")[0]


def is_installed(ctx: Context, name: str, path: str) -> bool:
    """True if the installed module is the one in the file."""
    if name not in read(ctx) or not ctx.host.exists(path):
        return False
    with private_directory("selinux") as directory:
        ran = ctx.host.run(["semodule", f"--extract={name}"], cwd=directory)
        made = [os.path.join(directory, one) for one in os.listdir(directory)]
        return ran.code == 0 and len(made) == 1 and addresses.read(made[0]) == addresses.read(path)


def install(ctx: Context, path: str) -> None:
    tool(ctx, "semodule", f"--install={path}")


def remove(ctx: Context, name: str) -> None:
    for priority in read(ctx)[name].priorities:
        tool(ctx, "semodule", f"--priority={priority}", f"--remove={name}")
