"""What says that a reboot is due."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from saltern.modules.api.context import Context
from saltern.modules.lib.boots import reboot_needed
from saltern.system.reboot_due import newer_kernel

DEBIAN = ["vmlinuz-6.1.0-9-amd64", "vmlinuz-6.1.0-40-amd64", "initrd.img-6.1.0-40-amd64", "grub"]


@pytest.mark.parametrize(
    ("running", "files", "newest"),
    [
        ("6.1.0-9-amd64", DEBIAN, "6.1.0-40-amd64"),
        ("6.1.0-40-amd64", DEBIAN, None),
        ("6.1.0-9-amd64", ["vmlinuz-6.1.0-9-amd64", "vmlinuz-6.12.0-1-cloud-amd64"], None),
        (
            "5.15.0-91-generic",
            ["vmlinuz-5.15.0-91-generic", "vmlinuz-5.15.0-105-generic", "vmlinuz"],
            "5.15.0-105-generic",
        ),
        (
            "5.14.21-150500.55.7-default",
            ["vmlinuz-5.14.21-150500.55.7-default", "vmlinuz-5.14.21-150500.55.19-default"],
            "5.14.21-150500.55.19-default",
        ),
        (
            "5.14.0-362.8.1.el9_3.x86_64",
            ["vmlinuz-5.14.0-362.8.1.el9_3.x86_64", "vmlinuz-5.14.0-427.13.1.el9_4.x86_64"],
            "5.14.0-427.13.1.el9_4.x86_64",
        ),
        ("6.18.44-fc-v490", DEBIAN, None),
        ("6.1.0-9-amd64", [], None),
    ],
)
def test_a_newer_kernel_of_the_same_flavour_is_found(
    running: str, files: list[str], newest: str | None
) -> None:
    """Names as Debian 12, Ubuntu 22.04, SLES 15 and RHEL 9 have them below /boot."""
    assert newer_kernel(running, files) == newest


@pytest.mark.parametrize(
    ("script", "needed"),
    [
        ("echo 'Reboot is required to fully utilize these updates.'; exit 1", True),
        ("echo 'Reboot is required to ensure that your system benefits from these updates.'; exit 1", True),
        ("echo 'Reboot should not be necessary.'", False),
        ("echo 'Error: Failed to obtain the transaction lock' >&2; exit 1", False),
        ("exit 1", False),
    ],
)
def test_needs_restarting_is_believed_when_it_says_so(
    ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, needed: bool
) -> None:
    """It ends with 1 also when it could not find out, as while another program has its lock."""
    program = tmp_path / "needs-restarting"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert reboot_needed._tool(ctx) == (["needs-restarting reports it"] if needed else [])
