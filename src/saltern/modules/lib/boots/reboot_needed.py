"""Whether this machine needs a reboot. Each witness returns reasons, as text."""

from __future__ import annotations

import os
from collections.abc import Callable

from saltern.modules.api.context import Context
from saltern.modules.api.programs import PLAIN_WORDS, has
from saltern.system.boot import text_of
from saltern.system.reboot_due import (
    FLAGS,
    PACKAGES,
    flag_reasons,
    kernel_reasons,
    library_reasons,
    newer_kernel,
    snapshot_reasons,
)
from saltern.system.snapshots import snapshots_state


def reasons(ctx: Context) -> list[str]:
    """Why a reboot is due; empty if it is not."""
    return [reason for witness in WITNESSES for reason in witness(ctx)]


def _flags(ctx: Context) -> list[str]:
    found = [flag for flag in FLAGS if ctx.host.exists(flag)]
    return flag_reasons(found, ctx.host.read(PACKAGES) or "") if found else []


def old_kernel(_ctx: Context) -> list[str]:
    """A reason if a newer kernel is installed than is running; right after a boot, the wrong one was
    booted.
    """
    running = os.uname().release
    return kernel_reasons(
        running, newer_kernel(running, os.listdir("/boot") if os.path.isdir("/boot") else [])
    )


def _first_process(_ctx: Context) -> list[str]:
    return library_reasons(text_of("/proc/1/maps"))


def _tool(ctx: Context) -> list[str]:
    """The reasons of the package tools of Red Hat and its derivatives."""
    if not has("needs-restarting"):
        return []
    ran = ctx.host.run(["needs-restarting", "-r"], env=PLAIN_WORDS)
    said = (
        ran.code == 1 and "reboot is required" in ran.out.lower()
    )  # 1 is also the exit code of an error of dnf
    return ["needs-restarting reports it"] if said else []


def waiting_snapshot(_ctx: Context) -> list[str]:
    return snapshot_reasons(*snapshots_state())


WITNESSES: tuple[Callable[[Context], list[str]], ...] = (
    _flags,
    old_kernel,
    _first_process,
    _tool,
    waiting_snapshot,
)
