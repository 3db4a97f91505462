"""Moves this process out of its unit: systemd ends all processes of a service when it ends."""

from __future__ import annotations

import os

BOOTED = "/run/systemd/system"  # exists if systemd is process 1
MANAGER = (
    "org.freedesktop.systemd1",
    "/org/freedesktop/systemd1",
    "org.freedesktop.systemd1.Manager",
    "StartTransientUnit",
)
PATIENCE = 5.0  # seconds for systemd to answer


def move_out(booted: str = BOOTED, own: str = "/proc/self/cgroup") -> bool:
    """Move into our own scope if we are in a service.

    Returns true if we are in a scope. A process that was started from a login or a terminal stays where it
    is, since nothing ends it.
    """
    if not os.path.isdir(booted) or not in_service(own):
        return False
    from saltern.system.process import run

    name = f"saltern-keeper-{os.getpid()}.scope"
    words = ["ssa(sv)a(sa(sv))", name, "fail", "2"]
    words += ["PIDs", "au", "1", str(os.getpid()), "CollectMode", "s", "inactive-or-failed", "0"]
    ran = run(["busctl", "--quiet", "call", *MANAGER, *words], timeout=PATIENCE)
    return ran.code == 0


def in_service(own: str = "/proc/self/cgroup") -> bool:
    try:
        with open(own, encoding="utf-8", errors="replace") as file:
            return any(part.endswith(".service") for line in file for part in line.strip().split("/"))
    except OSError:
        return False
