"""The functions of ``archive``."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from saltern.modules.functions import archive
from saltern.modules.params import BadArgument

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk


def test_tar_packs_and_unpacks_and_is_listed(desk: Desk) -> None:
    desk.put("app/a", "1")
    os.symlink("a", desk.at("app/b"))
    ctx = desk.context()
    archive.tar(ctx, "czf", desk.at("a.tgz"), "app", cwd=str(desk.scratch))
    names = archive.list_(ctx, desk.at("a.tgz"))
    assert isinstance(names, list)
    assert sorted(names) == ["app", "app/a", "app/b"]
    assert archive.list_(ctx, desk.at("a.tgz"), verbose=True) == {
        "dirs": ["app"],
        "files": ["app/a"],
        "links": ["app/b"],
        "top_level_dirs": ["app"],
        "top_level_files": [],
        "top_level_links": [],
    }
    os.mkdir(desk.at("to"))
    archive.tar(ctx, "xf", desk.at("a.tgz"), dest=desk.at("to"))
    assert desk.text("to/app/a") == "1"


def test_zip_packs_and_unpacks(desk: Desk) -> None:
    desk.put("app/a", "1")
    desk.put("app/b", "2")
    ctx = desk.context()
    assert archive.zip_(ctx, desk.at("a.zip"), "app", cwd=str(desk.scratch)) == ["app/a", "app/b"]
    assert archive.is_encrypted(ctx, desk.at("a.zip")) is False
    assert archive.unzip(ctx, desk.at("a.zip"), desk.at("to"), excludes="app/b") == ["app/a"]
    assert desk.text("to/app/a") == "1"


def test_gzip_goes_there_and_back(desk: Desk) -> None:
    path = desk.put("f", "text")
    archive.gzip(desk.context(), path)
    assert desk.names() == ["f.gz"]
    archive.gunzip(desk.context(), f"{path}.gz")
    assert desk.text("f") == "text"


def test_what_fails_is_told_plainly(desk: Desk) -> None:
    ctx = desk.context()
    calls: tuple[Callable[[], object], ...] = (
        lambda: archive.tar(ctx, "xf", desk.at("none.tar")),
        lambda: archive.list_(ctx, desk.at("none.tar")),
        lambda: archive.unzip(ctx, desk.at("none.zip"), desk.at("to")),
        lambda: archive.zip_(ctx, desk.at("a.zip"), desk.at("none")),
        lambda: archive.is_encrypted(ctx, desk.put("f")),
    )
    for call in calls:
        with pytest.raises(BadArgument, match=r"none|zip"):
            call()
