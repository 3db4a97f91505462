"""Hostile archives: whatever they hold, nothing outside of the directory is made or changed."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import shutil
import struct
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.modules.archive import functions
from tests.modules.archive.hostile import ATTACKS, Member, filled, write_tar, write_zip
from tests.modules.exchange import OTHER, exchanged, open_directory
from tests.modules.file.conftest import Desk

from saltern.language.result import Outcome
from saltern.modules.api.params import BadArgument
from saltern.modules.states.archive.extracted import extracted

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = os.geteuid() == 0
WRITERS: dict[str, Callable[[str, list[Member]], str]] = {"tar": write_tar, "zip": write_zip}


def snapshot(place: Path, apart: str) -> dict[str, object]:
    """Everything there with kind, mode, owner and content, ``apart`` left out."""
    found: dict[str, object] = {}
    for root, directories, names in os.walk(place):
        if apart in directories:
            directories.remove(apart)
        for name in (*directories, *names):
            path = os.path.join(root, name)
            info = os.lstat(path)
            text = Path(path).read_bytes() if os.path.isfile(path) and not os.path.islink(path) else b""
            found[path] = (info.st_mode, info.st_uid, info.st_nlink if text else 0, text)
    return found


def leads_out(top: str) -> list[str]:
    """The links below ``top`` that lead out of it."""
    found = []
    for root, directories, names in os.walk(top):
        for name in (*directories, *names):
            path = os.path.join(root, name)
            if os.path.islink(path):
                try:
                    where = os.path.realpath(path, strict=True)
                except FileNotFoundError:
                    where = os.path.realpath(path)
                except OSError:  # a loop leads nowhere, whatever the lenient look at it says
                    continue
                if where != top and not where.startswith(f"{top}/"):
                    found.append(path)
    return found


class Arena:
    """A directory to unpack into, with a victim beside it."""

    def __init__(self, base: Path) -> None:
        self.desk = Desk(base)
        self.place = self.desk.scratch
        self.into = self.desk.at("into")
        os.mkdir(self.into)
        self.desk.put("victim/file", "precious\n", 0o600)

    def unpack(self, source: str, **args: object) -> Outcome:
        before = snapshot(self.place, "into")
        result = self.desk.call(extracted, self.into, source=source, enforce_toplevel=False, **args)
        assert snapshot(self.place, "into") == before
        assert leads_out(self.into) == []
        assert "Traceback" not in result.comment
        return result.outcome


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    return Arena(tmp_path)


@pytest.mark.parametrize("args", [{}, {"force": True, "overwrite": True}, {"by": "program"}], ids=str)
@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_refused_and_nothing_is_written(
    arena: Arena, attack: str, form: str, args: dict[str, object]
) -> None:
    if form == "zip" and any(member.kind == "hardlink" for member in ATTACKS[attack]):
        pytest.skip("zip has no hard links")
    source = arena.desk.at(f"a.{form}")
    WRITERS[form](source, filled(ATTACKS[attack], str(arena.place)))
    if args.get("by"):
        args = {"use_cmd_unzip": True} if form == "zip" else {"options": "--touch"}
    assert arena.unpack(source, **args) is Outcome.FAILED
    assert os.listdir(arena.into) == []


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_long_names_of_pax_and_gnu_are_judged_as_they_are_read(arena: Arena, form: int) -> None:
    name = "../" * 60 + "victim/evil"
    source = write_tar(arena.desk.at("a.tar"), [Member("x" * 120), Member(name)], form)
    assert arena.unpack(source) is Outcome.FAILED


def test_pax_headers_override_the_names_and_are_judged(arena: Arena) -> None:
    path = arena.desk.at("a.tar")
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("harmless")
        info.pax_headers = {"path": "../victim/evil"}
        archive.addfile(info)
    assert arena.unpack(path) is Outcome.FAILED
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("harmless")
        info.type, info.linkname, info.pax_headers = tarfile.SYMTYPE, "x", {"linkpath": "../victim"}
        archive.addfile(info)
    assert arena.unpack(path) is Outcome.FAILED


@pytest.mark.parametrize("form", WRITERS)
def test_setuid_and_owners_of_an_archive_are_not_taken(arena: Arena, form: str) -> None:
    source = arena.desk.at(f"a.{form}")
    WRITERS[form](source, [Member("tool", mode=0o6755), Member("dir", "directory", mode=0o7777)])
    assert arena.unpack(source) is Outcome.OK
    for name in ("tool", "dir"):
        info = os.stat(os.path.join(arena.into, name))
        assert (info.st_mode & 0o7000, info.st_uid, info.st_gid) == (0, os.geteuid(), os.getegid())


@pytest.mark.skipif(not shutil.which("tar"), reason="needs tar")
def test_setuid_and_owners_are_not_taken_by_the_program_either_unless_asked(arena: Arena) -> None:
    source = write_tar(arena.desk.at("a.tar"), [Member("tool", mode=0o6755)])
    assert arena.unpack(source, options="--touch") is Outcome.OK
    info = os.stat(os.path.join(arena.into, "tool"))
    assert (info.st_mode & 0o7000, info.st_uid) == (0, os.geteuid())
    if ROOT:
        assert arena.unpack(source, options="--same-owner --same-permissions", overwrite=True) is Outcome.OK
        info = os.stat(os.path.join(arena.into, "tool"))
        assert (info.st_mode & 0o7777, info.st_uid) == (0o6755, 1234)


@pytest.mark.parametrize("options", ["-P", "--absolute-names", "-C /", "--directory=/", "-xPf"])
def test_options_that_lead_elsewhere_are_refused(arena: Arena, options: str) -> None:
    source = write_tar(arena.desk.at("a.tar"), [Member("x")])
    assert arena.unpack(source, options=options) is Outcome.FAILED


@pytest.mark.parametrize("form", WRITERS)
def test_links_that_stay_inside_are_unpacked(arena: Arena, form: str) -> None:
    members = [
        Member("app/lib/tool.js"),
        Member("app/bin/tool", "link", "../lib/tool.js"),
        Member("app/top", "link", ".."),
        Member("app/later", "link", "not/there/yet"),
    ]
    source = WRITERS[form](arena.desk.at(f"a.{form}"), members)
    assert arena.unpack(source) is Outcome.OK
    assert arena.desk.text("into/app/bin/tool") == "written by the archive\n"


def test_a_hard_link_to_a_file_before_it_is_one(arena: Arena) -> None:
    source = write_tar(arena.desk.at("a.tar"), [Member("d/a"), Member("./e//b", "hardlink", "./d//a")])
    assert arena.unpack(source) is Outcome.OK
    assert os.path.samefile(os.path.join(arena.into, "d/a"), os.path.join(arena.into, "e/b"))


def test_links_on_the_way_are_followed_inside_only(arena: Arena) -> None:
    os.makedirs(f"{arena.into}/usr/bin")
    os.symlink("usr/bin", f"{arena.into}/bin")
    os.symlink(f"{arena.into}/usr", f"{arena.into}/absolute")
    source = write_tar(arena.desk.at("a.tar"), [Member("bin/x"), Member("absolute/y")])
    assert arena.unpack(source) is Outcome.OK
    assert sorted(os.listdir(f"{arena.into}/usr")) == ["bin", "y"]
    for target in ("../victim", str(arena.place / "victim"), "bin/../../../victim"):
        os.symlink(target, f"{arena.into}/out")
        source = write_tar(arena.desk.at("a.tar"), [Member("out/evil")])
        result = arena.desk.call(extracted, arena.into, source=source, force=True)
        assert result.outcome is Outcome.FAILED
        os.unlink(f"{arena.into}/out")
    assert os.listdir(arena.place / "victim") == ["file"]


def test_force_does_not_remove_through_a_link(arena: Arena) -> None:
    os.symlink("../victim", f"{arena.into}/out")
    source = write_tar(arena.desk.at("a.tar"), [Member("out/file", "directory")])
    result = arena.desk.call(extracted, arena.into, source=source, force=True)
    assert result.outcome is Outcome.FAILED
    assert arena.desk.text("victim/file") == "precious\n"


# -- bombs -------------------------------------------------------------------------------------


def pax_record(key: str, size: int) -> bytes:
    body = f" {key}=".encode() + b"x" * size + b"\n"
    length = len(body) + len(str(len(body)))
    length = len(body) + len(str(length))
    return str(length).encode() + body


def raw_header(name: str, kind: bytes, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size
    return info.tobuf(tarfile.USTAR_FORMAT)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_of_any_kind_has_a_bounded_size(arena: Arena, kind: bytes) -> None:
    record = pax_record("comment", 8 << 20)
    padding = b"\0" * (-len(record) % 512)
    data = raw_header("x", kind, len(record)) + record + padding + raw_header("x", tarfile.REGTYPE, 0)
    Path(arena.desk.at("a.tgz")).write_bytes(gzip.compress(data + b"\0" * 1024))
    result = arena.desk.call(extracted, arena.into, source=arena.desk.at("a.tgz"), enforce_toplevel=False)
    assert result.outcome is Outcome.FAILED
    assert "header" in result.comment


def test_headers_without_end_are_no_recursion(arena: Arena) -> None:
    record = pax_record("comment", 10)
    one = raw_header("x", tarfile.XHDTYPE, len(record)) + record.ljust(512, b"\0")
    Path(arena.desk.at("a.tgz")).write_bytes(gzip.compress(one * 20_000))
    assert arena.unpack(arena.desk.at("a.tgz")) is Outcome.FAILED


def test_many_headers_count_as_size(arena: Arena) -> None:
    arena.desk.run.opts |= {"archive_max_size": 1 << 20}
    record = pax_record("comment", 900_000)
    padded = record + b"\0" * (-len(record) % 512)
    one = raw_header("x", tarfile.XGLTYPE, len(record)) + padded
    Path(arena.desk.at("a.tgz")).write_bytes(gzip.compress(one * 10))
    result = arena.desk.call(extracted, arena.into, source=arena.desk.at("a.tgz"))
    assert "archive_max_size" in result.comment


def test_the_ratio_of_a_large_archive_is_bounded(arena: Arena) -> None:
    data = bz2.compress(raw_header("a/zeros", tarfile.REGTYPE, 300 << 20) + b"\0" * (300 << 20))
    Path(arena.desk.at("a.tar.bz2")).write_bytes(data)
    result = arena.desk.call(extracted, arena.into, source=arena.desk.at("a.tar.bz2"))
    assert "archive_max_ratio" in result.comment
    assert os.listdir(arena.into) == []


def test_a_sparse_file_counts_as_large_as_it_is(arena: Arena) -> None:
    if not shutil.which("tar"):
        pytest.skip("needs tar")
    with open(arena.desk.at("hole"), "wb") as file:
        file.truncate(400 << 20)
    source = arena.desk.at("a.tar")
    subprocess.run(["tar", "-cSf", source, "-C", str(arena.place), "hole"], check=True)
    result = arena.desk.call(extracted, arena.into, source=source, enforce_toplevel=False)
    assert "archive_max_ratio" in result.comment


def test_more_entries_than_allowed_are_noticed_on_the_way(arena: Arena) -> None:
    arena.desk.run.opts |= {"archive_max_entries": 50_000}
    block = b"".join(raw_header(f"a/{number}", tarfile.REGTYPE, 0) for number in range(1000))
    Path(arena.desk.at("a.tgz")).write_bytes(gzip.compress(block * 60))
    result = arena.desk.call(extracted, arena.into, source=arena.desk.at("a.tgz"))
    assert "archive_max_entries" in result.comment


def test_entries_of_a_zip_that_overlap_are_refused(arena: Arena) -> None:
    """Many entries of the directory of the archive lead to one and the same content."""
    path = arena.desk.at("a.zip")
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", os.urandom(1000))
    data = plain.getvalue()
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    central = data[start:end]
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 40, 40, len(central) * 40, start, 0)
    Path(path).write_bytes(data[:start] + central * 40 + tail)
    result = arena.desk.call(extracted, arena.into, source=path, enforce_toplevel=False)
    assert "overlap" in result.comment


def test_a_zip_that_lies_about_its_size_is_refused(arena: Arena) -> None:
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/zeros", b"\0" * 1_000_000)
    data = plain.getvalue().replace(struct.pack("<L", 1_000_000), struct.pack("<L", 10))
    Path(arena.desk.at("a.zip")).write_bytes(data)
    assert arena.unpack(arena.desk.at("a.zip")) is Outcome.FAILED
    assert not os.path.exists(f"{arena.into}/a/zeros")


@pytest.mark.parametrize("method", [9, 97, 99])
def test_a_zip_of_an_unknown_method_is_refused_in_words(arena: Arena, method: int) -> None:
    path = write_zip(arena.desk.at("a.zip"), [Member("a")])
    data = bytearray(Path(path).read_bytes())
    for magic, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = data.index(magic) + offset
        data[at : at + 2] = struct.pack("<H", method)
    Path(path).write_bytes(data)
    assert arena.unpack(path) is Outcome.FAILED


def test_negative_sizes_and_offsets_end(arena: Arena) -> None:
    for size in (-1, -512, -1024, -(1 << 40)):
        info = tarfile.TarInfo("x")
        header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
        header[124:136] = b"\xff" + (256**11 + size).to_bytes(11, "big")
        header[148:156] = b" " * 8
        header[148:156] = f"{sum(header[:512]):06o}\0 ".encode()
        Path(arena.desk.at("a.tar")).write_bytes(bytes(header) + b"\0" * 4096)
        assert arena.unpack(arena.desk.at("a.tar")) is Outcome.FAILED


def test_what_unpacks_to_itself_is_unpacked_once(arena: Arena) -> None:
    inner = Path(write_zip(arena.desk.at("inner.zip"), [Member("a")])).read_bytes()
    with zipfile.ZipFile(arena.desk.at("a.zip"), "w") as archive:
        archive.writestr("inner.zip", inner)
    assert arena.unpack(arena.desk.at("a.zip")) is Outcome.OK
    assert os.listdir(arena.into) == ["inner.zip"]


# -- anything ----------------------------------------------------------------------------------

PARTS = ["a", "b", "c", "..", ".", "", "victim", "file", "A", "a\n", "é", "e\u0301", "..\\x"]
names = st.lists(st.sampled_from(PARTS), min_size=1, max_size=5).map("/".join)
kinds = st.sampled_from(["file", "directory", "link", "link", "hardlink"])
members = st.builds(Member, name=names, kind=kinds, text=names, mode=st.integers(0, 0o7777))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(members, max_size=8), st.sampled_from(["tar", "zip"]), st.booleans())
def test_nothing_outside_is_ever_touched(
    tmp_path_factory: pytest.TempPathFactory, listed: list[Member], form: str, judged: bool
) -> None:
    """Also when the judge is asleep: what writes has a lock of its own."""
    from saltern.modules.lib.archives import judge

    arena = Arena(tmp_path_factory.mktemp("arena"))
    source = WRITERS[form](arena.desk.at(f"a.{form}"), listed)
    with pytest.MonkeyPatch.context() as patch:
        if not judged:
            patch.setattr(judge.Judge, "look", lambda *_: None)
        arena.unpack(source, force=True)
    shutil.rmtree(arena.place.parent)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_damaged_archive_is_a_failure_in_words(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    arena = Arena(tmp_path_factory.mktemp("arena"))
    form = data.draw(st.sampled_from(["tar", "zip"]))
    source = Path(WRITERS[form](arena.desk.at(f"a.{form}"), [Member("a/b" * 40), Member("c", "link", "a")]))
    raw = bytearray(source.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    source.write_bytes(raw[: data.draw(st.integers(1, len(raw)))])
    arena.unpack(str(source))
    shutil.rmtree(arena.place.parent)


# -- races -------------------------------------------------------------------------------------


@pytest.fixture
def raced() -> Iterator[Arena]:
    """A directory of another user, who exchanges ``app`` with a link to the victim all the time."""
    if not ROOT:
        pytest.skip("needs root")
    with open_directory() as place:
        arena = Arena(place)
        os.symlink(str(arena.place / "victim"), f"{arena.into}/trap")
        os.mkdir(f"{arena.into}/app")
        for path in (arena.into, f"{arena.into}/trap", f"{arena.into}/app"):
            os.lchown(path, OTHER, OTHER)
        with exchanged(arena.into, "app", "trap"):
            yield arena


@pytest.mark.parametrize("args", [{}, {"user": "daemon"}, {"by": "program"}, {"clean": True}], ids=str)
@pytest.mark.parametrize("form", WRITERS)
def test_a_directory_of_another_user_cannot_be_raced(
    raced: Arena, form: str, args: dict[str, object]
) -> None:
    members = [Member("app", "directory"), *(Member(f"app/d{n}/evil") for n in range(20)), Member("app/file")]
    source = WRITERS[form](raced.desk.at(f"a.{form}"), members)
    if args.get("by"):
        args = {"use_cmd_unzip": True} if form == "zip" else {"options": "--touch"}
    before = snapshot(raced.place, "into")
    for _ in range(15):
        raced.desk.call(extracted, raced.into, source=source, force=True, overwrite=True, **args)
        assert snapshot(raced.place, "into") == before


# -- functions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("attack", ATTACKS)
def test_functions_unpack_nothing_outside_either(arena: Arena, attack: str) -> None:
    tar = write_tar(arena.desk.at("a.tar"), filled(ATTACKS[attack], str(arena.place)))
    before = snapshot(arena.place, "into")
    try:
        functions.tar(arena.desk.context(), "xf", tar, dest=arena.into)
    except BadArgument:
        pass
    if not any(member.kind == "hardlink" for member in ATTACKS[attack]):
        packed = write_zip(tar, filled(ATTACKS[attack], str(arena.place)))
        for function in (functions.unzip, functions.cmd_unzip):
            try:
                function(arena.desk.context(), packed, arena.into)
            except BadArgument:
                pass
            write_zip(tar, filled(ATTACKS[attack], str(arena.place)))
    after = {path: what for path, what in snapshot(arena.place, "into").items() if path != tar}
    assert after == {path: what for path, what in before.items() if path != tar}
    assert leads_out(arena.into) == []
