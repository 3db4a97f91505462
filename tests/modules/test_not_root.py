"""What states say to a user who is not root: the file that was meant, and that root may do it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from saltern.modules.api.context import Context
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused, explain
from saltern.modules.lib.packages.tool import why
from saltern.modules.lib.tables import sysctl
from saltern.system import files
from saltern.system.process import Ran, run

NOBODY = 65534
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: becomes another user")


@pytest.fixture
def nobody() -> Iterator[None]:
    """The test has the rights of a user who may do nothing."""
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    yield
    os.seteuid(0)
    os.setegid(0)


@pytest.fixture
def closed() -> Iterator[Path]:
    """A file in a directory that everybody may enter, and nobody but root may write to."""
    with TemporaryDirectory(prefix="saltern-t-", dir="/tmp") as place:
        os.chmod(place, 0o755)
        Path(place, "hosts").write_text("127.0.0.1 localhost\n")
        yield Path(place, "hosts")


def test_a_file_that_may_not_be_written_is_named_as_the_user_knows_it(closed: Path, nobody: None) -> None:
    with pytest.raises(PermissionError) as caught:
        files.write(str(closed), b"x")
    assert explain(caught.value) == f"{closed}: permission denied; run as root, or as a user who may"


def test_of_a_link_the_place_of_the_link_is_named(closed: Path, nobody: None) -> None:
    with pytest.raises(PermissionError) as caught:
        os.symlink("/usr/share/zoneinfo/UTC", closed.parent / "localtime")
    assert explain(caught.value).startswith(f"{closed.parent}/localtime: permission denied; run as root")


def test_a_link_that_replaces_a_file_is_named_as_the_user_knows_it(closed: Path, nobody: None) -> None:
    with pytest.raises(PermissionError) as caught:
        files.link(str(closed), lambda name, at: os.symlink("/usr/share/zoneinfo/UTC", name, dir_fd=at))
    assert explain(caught.value) == f"{closed}: permission denied; run as root, or as a user who may"


def test_root_is_told_what_the_system_said() -> None:
    assert explain(PermissionError(errno.EACCES, "Permission denied", "/x")) == "/x: Permission denied"


def test_a_program_that_may_not_do_it_needs_root(ctx: Context, closed: Path, nobody: None) -> None:
    with pytest.raises(Refused, match=r"Permission denied\nthis needs root: run saltern as root$"):
        tool(ctx, "mkdir", str(closed.parent / "more"))
    with pytest.raises(Refused) as caught:
        tool(ctx, "ls", str(closed.parent / "gone"))
    assert "root:" not in str(caught.value)


def test_a_program_of_another_user_needs_root(nobody: None) -> None:
    assert run(["true"], user="daemon").err == "only root can run a program as daemon"


def test_dpkg_that_may_not_write_needs_root(nobody: None) -> None:
    said = "dpkg: error: required read/write access to the dpkg database directory /var/lib/dpkg\n"
    assert why(["dpkg"], Ran(2, err=said)).endswith("this needs root: run saltern as root")


def test_a_kernel_parameter_needs_root(nobody: None) -> None:
    with pytest.raises(Refused, match=r"kernel.hostname = .*: permission denied; run as root"):
        sysctl.assign("kernel.hostname", os.uname().nodename)
