"""Kernel modules: those loaded now, and those to load at boot."""

from __future__ import annotations

import os
import re

from saltern.modules.api.context import Context
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused

LOADED = "/proc/modules"
WITH_SYSTEMD = "/etc/modules-load.d/salt_managed.conf"
FILE = "/etc/modules"
NAME = re.compile(r"[\w-]+")


def usual_config() -> str:
    return WITH_SYSTEMD if os.path.isdir("/run/systemd/system") else FILE


def check_name(name: str) -> str:
    if NAME.fullmatch(name) is None or name.startswith("-"):
        raise Refused(f"{name!r} cannot be the name of a kernel module")
    return name


def same(one: str, other: str) -> bool:
    """True for the same module; the kernel does not distinguish ``-`` from ``_``."""
    return one.replace("-", "_") == other.replace("-", "_")


def rows(ctx: Context) -> list[list[str]]:
    return [line.split() for line in (ctx.host.read(LOADED) or "").splitlines()]


def loaded_modules(ctx: Context) -> list[str]:
    return [row[0] for row in rows(ctx)]


def is_loaded(ctx: Context, name: str) -> bool:
    """True if a module is loaded, or built into the kernel."""
    if any(same(name, one) for one in loaded_modules(ctx)):
        return True
    inside = ctx.host.read(f"/lib/modules/{os.uname().release}/modules.builtin") or ""
    files = (os.path.basename(line).partition(".")[0] for line in inside.splitlines())
    return any(same(name, one) for one in files)


def kept_modules(ctx: Context) -> list[str]:
    """The modules to load at boot."""
    lines = (ctx.host.read(usual_config()) or "").splitlines()
    return [line.split()[0] for line in lines if line.split() and not line.startswith("#")]


def keep(ctx: Context, name: str) -> None:
    text = ctx.host.read(usual_config()) or ""
    commented = re.compile(rf"^#[ \t]*{re.escape(name)}[ \t]*$", re.MULTILINE)
    if commented.search(text):
        new = commented.sub(name, text, count=1)
    else:
        new = text + ("" if text.endswith("\n") or not text else "\n") + f"{name}\n"
    ctx.host.makedirs(os.path.dirname(usual_config()))
    ctx.host.write(usual_config(), new)


def forget(ctx: Context, name: str, *, comment: bool = True) -> None:
    lines = (ctx.host.read(usual_config()) or "").splitlines()
    kept_lines = []
    for line in lines:
        if not line.split() or not same(line.split()[0], name):
            kept_lines.append(line)
        elif comment:
            kept_lines.append(f"#{line}")
    ctx.host.write(usual_config(), "".join(f"{line}\n" for line in kept_lines))


def load(ctx: Context, name: str) -> None:
    tool(ctx, "modprobe", "--", check_name(name))


def remove(ctx: Context, name: str) -> None:
    tool(ctx, "modprobe", "-r", "--", check_name(name))
