"""The functions of ``archive``."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.modules.archive import functions as archive

from saltern.modules.api.params import BadArgument

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk


def test_tar_packs_and_unpacks_and_is_listed(desk: Desk) -> None:
    desk.put("app/a", "1")
    os.symlink("a", desk.at("app/b"))
    ctx = desk.context()
    archive.tar(ctx, "czf", desk.at("a.tgz"), "app", cwd=str(desk.scratch))
    names = archive.list_(ctx, desk.at("a.tgz"))
    assert isinstance(names, list)
    assert names == ["app/", "app/a", "app/b"]
    assert archive.list_(ctx, desk.at("a.tgz"), verbose=True) == {
        "dirs": ["app/"],
        "files": ["app/a"],
        "links": ["app/b"],
        "top_level_dirs": ["app/"],
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
    assert archive.zip_(ctx, desk.at("a.zip"), "app", cwd=str(desk.scratch)) == [
        "app/",
        "app/a",
        "app/b",
    ]
    assert archive.is_encrypted(ctx, desk.at("a.zip")) is False
    assert archive.unzip(ctx, desk.at("a.zip"), desk.at("to"), excludes="app/b") == ["app/", "app/a"]
    assert desk.text("to/app/a") == "1"


def test_gzip_goes_there_and_back(desk: Desk) -> None:
    path = desk.put("f", "text")
    archive.gzip(desk.context(), path)
    assert desk.names() == ["f.gz"]
    archive.gunzip(desk.context(), f"{path}.gz")
    assert desk.text("f") == "text"


def test_what_fails_is_reported_plainly(desk: Desk) -> None:
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


def test_directories_that_are_empty_are_packed(desk: Desk) -> None:
    os.makedirs(desk.at("app/empty/deeper"))
    ctx = desk.context()
    packed = archive.zip_(ctx, desk.at("a.zip"), "app", cwd=str(desk.scratch))
    assert packed == ["app/", "app/empty/", "app/empty/deeper/"]
    archive.unzip(ctx, desk.at("a.zip"), desk.at("to"))
    assert os.path.isdir(desk.at("to/app/empty/deeper"))


def test_a_relative_name_needs_a_directory_to_start_from(desk: Desk) -> None:
    with pytest.raises(BadArgument, match="cwd"):
        archive.zip_(desk.context(), desk.at("a.zip"), "app")


def test_the_programs_pack_and_unpack(desk: Desk) -> None:
    desk.put("app/a", "1")
    desk.put("app/b", "2")
    ctx = desk.context()
    assert any(
        "app/a" in line for line in archive.cmd_zip(ctx, desk.at("a.zip"), "app", cwd=str(desk.scratch))
    )
    said = archive.cmd_unzip(ctx, desk.at("a.zip"), desk.at("to"), excludes="app/b")
    assert any(desk.at("to/app/a") in line for line in said)
    assert sorted(os.listdir(desk.at("to/app"))) == ["a"]


def test_what_tar_prints_is_returned(desk: Desk) -> None:
    desk.put("app/a", "1", 0o640)
    ctx = desk.context()
    archive.tar(ctx, "czf", desk.at("a.tgz"), "app", cwd=str(desk.scratch))
    assert archive.tar(ctx, "-xvf", desk.at("a.tgz"), dest=desk.at("to")) == ["app/", "app/a"]
    assert (desk.text("to/app/a"), desk.mode("to/app/a")) == ("1", 0o640)


def test_only_a_part_is_unpacked_on_demand(desk: Desk) -> None:
    desk.put("app/a", "1")
    desk.put("app/b", "2")
    ctx = desk.context()
    archive.tar(ctx, "cf", desk.at("a.tar"), "app", cwd=str(desk.scratch))
    archive.tar(ctx, "xf", desk.at("a.tar"), "app/b", dest=desk.at("to"))
    assert os.listdir(desk.at("to/app")) == ["b"]


@pytest.mark.skipif(not shutil.which("bsdtar"), reason="needs a program that unpacks rar")
def test_what_is_no_rar_archive_is_refused_in_words(desk: Desk) -> None:
    with pytest.raises(BadArgument, match="cannot"):
        archive.unrar(desk.context(), desk.put("a.rar", "none"), desk.at("to"))


def test_files_alone_have_a_top_level_directory(desk: Desk) -> None:
    with tarfile.open(desk.at("a.tgz"), "w:gz") as packed:
        packed.addfile(tarfile.TarInfo("jdk-21/bin/java"))
    listed = archive.list_(desk.context(), desk.at("a.tgz"), verbose=True)
    assert isinstance(listed, dict)
    assert (listed["dirs"], listed["top_level_dirs"]) == ([], ["jdk-21/"])
