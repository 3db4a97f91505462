"""The mode of SELinux, now and at boot."""

from __future__ import annotations

import re

from saltern.modules.api.context import Context
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused

FILE_SYSTEMS = ("/sys/fs/selinux", "/selinux")
CONFIG = "/etc/selinux/config"
LINE = re.compile(r"^[ \t]*SELINUX[ \t]*=[ \t]*(?P<mode>\w*).*$", re.MULTILINE)
ENFORCING, PERMISSIVE, DISABLED = "Enforcing", "Permissive", "Disabled"
SWITCH = {ENFORCING: "1", PERMISSIVE: "0", DISABLED: "0"}  # disabled needs a reboot
WORDS = {
    "1": ENFORCING,
    "on": ENFORCING,
    "true": ENFORCING,
    "0": PERMISSIVE,
    "off": PERMISSIVE,
    "false": PERMISSIVE,
}


def read_mode(word: object) -> str:
    """The mode from ``enforcing``, ``permissive`` or ``disabled``, their first letters, or a switch."""
    text = str(word).lower()
    found = [mode for mode in SWITCH if text and mode.lower().startswith(text)]
    if mode := WORDS.get(text) or next(iter(found), ""):
        return mode
    raise Refused(f"{word} is not an accepted mode; use enforcing, permissive or disabled")


def place(ctx: Context) -> str | None:
    """The path of the SELinux file system; None if SELinux is off."""
    return next((one for one in FILE_SYSTEMS if ctx.host.exists(f"{one}/enforce")), None)


def running_mode(ctx: Context) -> str:
    found = place(ctx)
    if found is None:
        return DISABLED
    return PERMISSIVE if (ctx.host.read(f"{found}/enforce") or "").strip() == "0" else ENFORCING


def at_boot(ctx: Context) -> str | None:
    """The mode in the configuration; None if it has none."""
    found = LINE.search(ctx.host.read(CONFIG) or "")
    return found["mode"].capitalize() if found else None


def reachable(ctx: Context, wanted: str) -> str:
    """The closest mode without a reboot: if off it stays off, and if on it cannot be switched off."""
    if running_mode(ctx) == DISABLED:
        return DISABLED
    return PERMISSIVE if wanted == DISABLED else wanted


def switch(ctx: Context, wanted: str) -> None:
    if running_mode(ctx) != reachable(ctx, wanted):
        tool(ctx, "setenforce", SWITCH[wanted])


def keep(ctx: Context, wanted: str) -> None:
    text = ctx.host.read(CONFIG)
    if text is None:
        raise Refused(f"{CONFIG} does not exist; install a policy of SELinux first")
    line = f"SELINUX={wanted.lower()}"
    changed = LINE.sub(line, text) if LINE.search(text) else f"{text}{line}\n"
    ctx.host.write(CONFIG, changed)
