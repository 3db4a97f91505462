"""``archive.extracted``: unpacked once, the same again, and never outside of its directory."""

from __future__ import annotations

import hashlib
import http.server
import io
import os
import shutil
import stat
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from saltern.language.result import Outcome
from saltern.modules.lib.archives import tools
from saltern.modules.states.archive.extracted import extracted

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

ROOT = os.geteuid() == 0
FILES = {"app/bin/run": "#!/bin/sh\n", "app/README": "hello\n"}


def tar(path: str, files: dict[str, str], mode: str = "w:gz") -> str:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            add(archive, name, text)
    return path


def add(archive: tarfile.TarFile, name: str, text: str = "", **fields: object) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(text), 0o755
    for field, value in fields.items():
        setattr(info, field, value)
    archive.addfile(info, io.BytesIO(text.encode()))


def make_zip(path: str, files: dict[str, str]) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize("form", ["gz", "bz2", "xz", ""])
def test_tar_is_unpacked_whatever_it_is_compressed_with(desk: Desk, form: str) -> None:
    source = tar(desk.at(f"a.tar.{form}" if form else "a.tar"), FILES, f"w:{form}")
    result = desk.change(extracted, desk.at("to"), source=source)
    assert result.changes == {"extracted_files": list(FILES), "directories_created": [desk.at("to")]}
    assert result.comment == f"{source} extracted to {desk.at('to')}"
    assert (desk.text("to/app/README"), desk.mode("to/app/bin/run")) == ("hello\n", 0o755)
    assert (result.data["format"], result.data["entries"], result.data["toplevel"]) == ("tar", 2, ["app"])


@pytest.mark.skipif(not shutil.which("zstd"), reason="needs zstd")
def test_zstandard_is_unpacked_by_its_program(desk: Desk) -> None:
    plain = tar(desk.at("a.tar"), FILES, "w")
    subprocess.run(["zstd", "-q", plain], check=True)
    desk.change(extracted, desk.at("to"), source=desk.at("a.tar.zst"))
    assert desk.text("to/app/README") == "hello\n"


def test_zip_keeps_modes_and_links(desk: Desk) -> None:
    with zipfile.ZipFile(desk.at("a.zip"), "w") as archive:
        for name, mode, text in (
            ("app/run", stat.S_IFREG | 0o750, "x"),
            ("app/now", stat.S_IFLNK | 0o777, "run"),
        ):
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, text)
    desk.change(extracted, desk.at("to"), source=desk.at("a.zip"))
    assert (desk.mode("to/app/run"), os.readlink(desk.at("to/app/now"))) == (0o750, "run")


def test_a_missing_file_brings_the_archive_back(desk: Desk) -> None:
    source = tar(desk.at("a.tgz"), FILES)
    desk.change(extracted, desk.at("to"), source=source)
    os.unlink(desk.at("to/app/README"))
    result = desk.change(extracted, desk.at("to"), source=source)
    assert result.changes == {"extracted_files": list(FILES)}


def test_overwrite_unpacks_every_time(desk: Desk) -> None:
    source = tar(desk.at("a.tgz"), FILES)
    desk.call(extracted, desk.at("to"), source=source)
    desk.put("to/app/README", "changed")
    desk.same(extracted, desk.at("to"), source=source)
    assert desk.foresee(extracted, desk.at("to"), source=source, overwrite=True).changes
    assert desk.call(extracted, desk.at("to"), source=source, overwrite=True).changes
    assert desk.text("to/app/README") == "hello\n"


def test_if_missing_looks_at_one_path_only(desk: Desk) -> None:
    source = tar(desk.at("a.tgz"), FILES)
    args = {"source": source, "if_missing": desk.at("to/app")}
    assert desk.call(extracted, desk.at("to"), **args).changes
    os.unlink(desk.at("to/app/README"))
    assert desk.same(extracted, desk.at("to"), **args).data["source"] == source


def test_more_than_one_thing_at_the_top_needs_a_word(desk: Desk) -> None:
    source = tar(desk.at("a.tgz"), {"a": "1", "b/c": "2"})
    assert "enforce_toplevel" in desk.refusal(extracted, desk.at("to"), source=source)
    desk.change(extracted, desk.at("to"), source=source, enforce_toplevel=False)


def test_clean_removes_what_lies_at_the_top_of_the_archive_and_no_more(desk: Desk) -> None:
    source = tar(desk.at("a.tgz"), FILES)
    desk.put("to/app/old")
    desk.put("to/other")
    result = desk.change(extracted, desk.at("to"), source=source, clean=True)
    assert result.changes["removed"] == [desk.at("to/app")]
    assert not os.path.exists(desk.at("to/app/old"))
    assert os.path.exists(desk.at("to/other"))
    os.unlink(desk.at("to/app/README"))
    result = desk.change(extracted, desk.at("to"), source=source, clean_parent=True)
    assert result.changes["removed"] == [desk.at("to/app"), desk.at("to/other")]
    both = {"source": source, "clean": True, "clean_parent": True}
    assert "either" in desk.refusal(extracted, desk.at("to"), **both)


def test_owners_outside_of_the_directory_are_refused_before_anything_is_unpacked(desk: Desk) -> None:
    source = tar(desk.at("a.tgz"), FILES)
    args = {"source": source, "user": "root", "enforce_ownership_on": desk.at("elsewhere")}
    assert "must name a path in" in desk.refusal(extracted, desk.at("to"), **args)
    assert "to" not in desk.names()


def test_a_file_in_the_way_is_replaced_only_by_force(desk: Desk) -> None:
    source = tar(desk.at("a.tgz"), FILES)
    os.makedirs(desk.at("to/app/README"))
    assert "force" in desk.refusal(extracted, desk.at("to"), source=source)
    result = desk.change(extracted, desk.at("to"), source=source, force=True)
    removed = result.changes["removed"]
    assert isinstance(removed, list) and len(removed) == 1


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_owners_are_set_and_set_right_again(desk: Desk) -> None:
    source = tar(desk.at("a.tgz"), FILES)
    desk.change(extracted, desk.at("to"), source=source, user="daemon", group="daemon")
    os.chown(desk.at("to/app"), 0, 0)
    result = desk.change(extracted, desk.at("to"), source=source, user="daemon")
    assert result.changes == {"updated ownership": True}
    assert os.stat(desk.at("to/app")).st_uid == os.stat(desk.at("to/app/README")).st_uid != 0


def test_strip_components_is_understood_and_stays_quiet_the_second_time(desk: Desk) -> None:
    source = tar(desk.at("a.tgz"), FILES)
    result = desk.change(
        extracted, desk.at("to"), source=source, options="--strip-components=1 --exclude=bin"
    )
    assert result.changes["extracted_files"] == ["README"]
    assert desk.text("to/README") == "hello\n"


@pytest.mark.skipif(not shutil.which("tar"), reason="needs tar")
def test_other_options_go_to_the_program(desk: Desk) -> None:
    source = tar(desk.at("a.tgz"), FILES)
    desk.change(extracted, desk.at("to"), source=source, options=["--touch"])
    assert sorted(os.listdir(desk.at("to"))) == ["app"]


def test_a_checksum_is_demanded_of_archives_too(desk: Desk) -> None:
    source = tar(desk.at("a.tgz"), FILES)
    with open(source, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    assert "is required" in desk.refusal(extracted, desk.at("to"), source=source, source_hash="0" * 64)
    desk.change(extracted, desk.at("to"), source=source, source_hash=f"sha256={digest}")


def test_another_checksum_unpacks_again(desk: Desk) -> None:
    source = tar(desk.at("a.tgz"), FILES)
    desk.change(extracted, desk.at("to"), source=source, source_hash_update=True)
    tar(source, {**FILES, "app/README": "new\n"})
    desk.change(extracted, desk.at("to"), source=source, source_hash_update=True)
    assert desk.text("to/app/README") == "new\n"


def test_trim_output_names_the_first_files_only(desk: Desk) -> None:
    source = tar(desk.at("a.tgz"), FILES)
    result = desk.change(extracted, desk.at("to"), source=source, trim_output=1)
    assert result.changes["extracted_files"] == ["app/bin/run"]


def test_the_first_source_of_a_list_and_of_the_tree_is_taken(desk: Desk) -> None:
    tar(str(desk.states / "a.tgz"), FILES)
    desk.change(extracted, desk.at("to"), source=["salt://none.tgz", "salt://a.tgz"])
    assert "not found" in desk.refusal(extracted, desk.at("n"), source="salt://none.tgz")


def test_archives_come_from_the_web(desk: Desk) -> None:
    with open(tar(desk.at("a.tgz"), FILES), "rb") as file:
        data = file.read()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/a.tgz"
        assert "source_hash" in desk.refusal(extracted, desk.at("to"), source=url)
        digest = hashlib.sha256(data).hexdigest()
        desk.change(extracted, desk.at("to"), source=url, source_hash=digest)
    finally:
        server.shutdown()
        server.server_close()


def add_behind_link(archive: tarfile.TarFile) -> None:
    add(archive, "a/l", type=tarfile.SYMTYPE, linkname=".")
    add(archive, "a/l/x", "x")


HOSTILE: dict[str, tuple[str, Callable[[tarfile.TarFile], None]]] = {
    "dots": ("leads out of the directory", lambda archive: add(archive, "a/../../evil", "x")),
    "absolute": ("absolute name", lambda archive: add(archive, "/etc/evil", "x")),
    "link out": ("outside", lambda archive: add(archive, "a/l", type=tarfile.SYMTYPE, linkname="../../x")),
    "absolute link": (
        "leads outside",
        lambda archive: add(archive, "a/l", type=tarfile.SYMTYPE, linkname="/etc"),
    ),
    "hard link out": ("outside", lambda archive: add(archive, "a", type=tarfile.LNKTYPE, linkname="../x")),
    "device": ("is a device", lambda archive: add(archive, "a/d", type=tarfile.CHRTYPE)),
    "pipe": ("is a pipe", lambda archive: add(archive, "a/p", type=tarfile.FIFOTYPE)),
    "below a link": (
        "below a link",
        add_behind_link,
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_tar_is_refused_in_words(desk: Desk, kind: str) -> None:
    words, build = HOSTILE[kind]
    with tarfile.open(desk.at("a.tar"), "w") as archive:
        add(archive, "good", "x")
        build(archive)
    comment = desk.refusal(extracted, desk.at("to"), source=desk.at("a.tar"), enforce_toplevel=False)
    assert words in comment
    assert "refused" in comment


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil"])
def test_a_hostile_zip_is_refused_in_words(desk: Desk, name: str) -> None:
    source = make_zip(desk.at("a.zip"), {"ok/a": "x", name: "x"})
    assert "refused" in desk.refusal(extracted, desk.at("to"), source=source, enforce_toplevel=False)


def test_bombs_are_refused_before_anything_is_written(desk: Desk) -> None:
    desk.run.opts |= {"archive_max_size": 1000, "archive_max_entries": 3}
    big = make_zip(desk.at("big.zip"), {"a/zeros": "0" * 100_000})
    many = tar(desk.at("many.tgz"), {f"a/{number}": "" for number in range(5)})
    assert "archive_max_size" in desk.refusal(extracted, desk.at("to"), source=big)
    assert "archive_max_entries" in desk.refusal(extracted, desk.at("to"), source=many)


@pytest.mark.skipif(not shutil.which("zstd"), reason="needs zstd")
def test_a_zstandard_bomb_is_stopped_while_it_unpacks(desk: Desk) -> None:
    desk.run.opts |= {"archive_max_size": 100_000, "archive_max_entries": 3}
    subprocess.run(["zstd", "-q", tar(desk.at("a.tar"), {"a/zeros": "0" * 3_000_000}, "w")], check=True)
    assert "cannot unpack" in desk.refusal(extracted, desk.at("to"), source=desk.at("a.tar.zst"))


def test_a_link_that_is_there_already_is_not_followed_out(desk: Desk) -> None:
    os.makedirs(desk.at("elsewhere"))
    os.makedirs(desk.at("to"))
    os.symlink(desk.at("elsewhere"), desk.at("to/app"))
    for source in (tar(desk.at("a.tgz"), FILES), make_zip(desk.at("a.zip"), FILES)):
        assert "outside" in desk.call(extracted, desk.at("to"), source=source).comment
    assert os.listdir(desk.at("elsewhere")) == []


def test_an_encrypted_zip_does_not_tell_its_password(desk: Desk) -> None:
    if not shutil.which("zip"):
        pytest.skip("needs zip")
    desk.put("app/secret", "x")
    subprocess.run(["zip", "-q", "-P", "hunter2", "a.zip", "app/secret"], cwd=desk.scratch, check=True)
    comment = desk.refusal(extracted, desk.at("to"), source=desk.at("a.zip"), password="wrong-word")
    assert "password" in comment
    assert "wrong-word" not in comment
    result = desk.change(extracted, desk.at("to"), source=desk.at("a.zip"), password="hunter2")
    assert "hunter2" not in repr(result)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"archive_format": "taz"}, "did you mean 'tar'"),
        ({"trim_output": "some"}, "trim_output"),
        ({"password": "x"}, "password is for zip"),
        ({"options": "--strip-components=x"}, "needs a number"),
        ({"user": "saltern-t-nobody"}, "not available"),
    ],
)
def test_bad_input_is_reported_plainly(desk: Desk, args: dict[str, object], words: str) -> None:
    source = tar(desk.at("a.tgz"), FILES)
    assert words in desk.refusal(extracted, desk.at("to"), source=source, **args)


def test_what_is_no_archive_is_reported_plainly(desk: Desk) -> None:
    desk.put("a.tar.gz", "no archive")
    desk.put("thing", "no archive")
    assert "cannot be read" in desk.refusal(extracted, desk.at("to"), source=desk.at("a.tar.gz"))
    assert "archive_format" in desk.refusal(extracted, desk.at("to"), source=desk.at("thing"))
    assert "not an absolute path" in desk.refusal(extracted, "to", source=desk.at("thing"))


def test_a_format_without_a_name_is_seen_from_its_content(desk: Desk) -> None:
    tar(desk.at("blob"), FILES)
    desk.change(extracted, desk.at("to"), source=desk.at("blob"))


def test_unknown_keywords_are_remarked(desk: Desk) -> None:
    source = tar(desk.at("a.tgz"), FILES)
    result = desk.call(extracted, desk.at("to"), source=source, nonsense=1)
    assert result.outcome is Outcome.OK
    assert "nonsense" in result.warnings[0]


def test_listings_of_other_programs_are_read() -> None:
    """Recorded-style output: neither 7z nor unrar need be here."""
    seven = tools.SEVEN.read
    unrar = tools.UNRAR.read
    assert seven is not None
    assert unrar is not None
    found = seven(
        "Path = app\nFolder = +\nSize = 0\nAttributes = D drwxr-xr-x\n\n"
        "Path = app/x\nFolder = -\nSize = 12\nAttributes = A -rw-r--r--\n\n"
    )
    assert [(entry.name, entry.kind, entry.size) for entry in found] == [
        ("app", "directory", 0),
        ("app/x", "file", 12),
    ]
    found = unrar(
        "Details: RAR 5\n\n        Name: app/x\n        Type: File\n        Size: 3\n\n"
        "        Name: app\n        Type: Directory\n"
    )
    assert [(entry.name, entry.kind, entry.size) for entry in found] == [
        ("app/x", "file", 3),
        ("app", "directory", 0),
    ]


def test_a_format_no_program_is_here_for_is_reported_plainly(desk: Desk) -> None:
    desk.put("a.rar", "x")
    comment = desk.refusal(extracted, desk.at("to"), source=desk.at("a.rar"))
    assert "rar" in comment
