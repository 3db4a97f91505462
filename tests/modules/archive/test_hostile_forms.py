"""Hostile archives by the odd corners of their forms: second names, headers for what follows, old kinds."""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.modules.archive.hostile import Member, write_tar, write_zip
from tests.modules.archive.test_hostile import Arena

from saltern.language.result import Outcome
from saltern.modules.states.archive.extracted import extracted

EVIL = "../victim/evil"
BY_PROGRAM: dict[str, dict[str, object]] = {"tar": {"options": "--touch"}, "zip": {"use_cmd_unzip": True}}


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    return Arena(tmp_path)


def below(top: str) -> Iterator[os.stat_result]:
    for root, directories, names in os.walk(top):
        for name in (*directories, *names):
            yield os.lstat(os.path.join(root, name))


def is_harmless(arena: Arena, source: str, form: str) -> None:
    """By our own hands and by the programs: nothing outside is touched, and only plain things are made."""
    ways: list[dict[str, object]] = [{}, {"force": True, "overwrite": True}, BY_PROGRAM[form]]
    for args in ways:
        arena.unpack(source, **args)
        kinds = {stat.S_IFMT(found.st_mode) for found in below(arena.into)}
        assert kinds <= {stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK}
        assert not any(found.st_mode & 0o7000 for found in below(arena.into) if stat.S_ISREG(found.st_mode))


# -- tar -----------------------------------------------------------------------------------------------------


def raw(name: bytes, kind: bytes, data: bytes = b"", link: bytes = b"") -> bytes:
    """A header of the old form, and its data."""
    head = bytearray(512)
    head[0:100] = name[:100].ljust(100, b"\0")
    head[100:108], head[108:116], head[116:124] = b"0000755\0", b"0000000\0", b"0000000\0"
    head[124:136], head[136:148] = b"%011o\0" % len(data), b"00000000000\0"
    head[148:156], head[156:157] = b" " * 8, kind
    head[157:257] = link[:100].ljust(100, b"\0")
    head[257:265] = b"ustar  \0"
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + data + bytes(-len(data) % 512)


def pax(**words: str) -> bytes:
    """The data of a pax header."""
    rows = []
    for key, value in words.items():
        row = f" {key.replace('__', '.')}={value}\n".encode()
        size = len(row) + 1
        while len(str(size)) + len(row) != size:
            size = len(str(size)) + len(row)
        rows.append(str(size).encode() + row)
    return b"".join(rows)


END = bytes(1024)
RAW = {
    "a path for all that follow": raw(b"g", b"g", pax(path=EVIL)) + raw(b"a", b"0", b"x"),
    "a link for all that follow": raw(b"g", b"g", pax(linkpath="../victim"))
    + raw(b"l", b"2", link=b".")
    + raw(b"l/evil", b"0", b"x"),
    "the name of a sparse file": raw(
        b"x",
        b"x",
        pax(
            GNU__sparse__major="1", GNU__sparse__minor="0", GNU__sparse__name=EVIL, GNU__sparse__realsize="3"
        ),
    )
    + raw(b"a", b"0", b"1\n0\n3\n".ljust(512, b"\0") + b"abc"),
    "an old sparse name": raw(
        b"x", b"x", pax(GNU__sparse__name=EVIL, GNU__sparse__map="0,1", GNU__sparse__size="1")
    )
    + raw(b"a", b"0", b"x"),
    "a path given twice": raw(b"x", b"x", pax(path="fine") + pax(path=EVIL)) + raw(b"a", b"0", b"x"),
    "a path with a NUL": raw(b"x", b"x", pax(path=f"fine\0/../{EVIL}")) + raw(b"a", b"0", b"x"),
    "a long name with a NUL": raw(b"././@LongLink", b"L", b"a\0/../" + EVIL.encode() + b"\0")
    + raw(b"a", b"0", b"x"),
    "long name and pax path": raw(b"././@LongLink", b"L", b"fine\0")
    + raw(b"x", b"x", pax(path=EVIL))
    + raw(b"a", b"0", b"x"),
    "pax path and long name": raw(b"x", b"x", pax(path="fine"))
    + raw(b"././@LongLink", b"L", EVIL.encode() + b"\0")
    + raw(b"a", b"0", b"x"),
    "a long link": raw(b"././@LongLink", b"K", b"../victim\0")
    + raw(b"l", b"2", link=b".")
    + raw(b"l/evil", b"0", b"x"),
    "a hard link by pax": raw(b"x", b"x", pax(linkpath="../victim/file"))
    + raw(b"h", b"1", link=b"a")
    + raw(b"h", b"0", b"evil"),
    "a volume": raw(b"../victim", b"V") + raw(b"a", b"0", b"x"),
    "a continued file": raw(EVIL.encode(), b"M", b"x"),
    "a dumped directory": raw(b"../victim", b"D", b"Dfile\0\0") + raw(b"a", b"0", b"x"),
    "a dumped directory that renames": raw(b"d", b"D", b"Rvictim\0T../victim\0\0") + raw(b"a", b"0", b"x"),
    "a contiguous file": raw(EVIL.encode(), b"7", b"x"),
    "an unknown kind": raw(EVIL.encode(), b"Z", b"x"),
    "a block device": raw(b"b", b"4") + raw(b"b", b"0", b"x"),
    "a Solaris header": raw(b"x", b"X", pax(path=EVIL)) + raw(b"a", b"0", b"x"),
    "a file that is also a directory": raw(b"f", b"0", b"x") + raw(b"f/../../victim/evil", b"0", b"x"),
    "an old directory": raw(b"../victim/evil/", b"\0") + raw(b"a", b"0", b"x"),
    "a size below zero": raw(b"x", b"x", pax(size="-512"))
    + raw(b"a", b"0", b"x")
    + raw(EVIL.encode(), b"0", b"x"),
    "a huge size": raw(b"x", b"x", pax(size="9" * 30)) + raw(b"a", b"0", b"x"),
    "another charset": raw(b"x", b"x", pax(hdrcharset="BINARY", path=EVIL)) + raw(b"a", b"0", b"x"),
    "an empty name": raw(b"", b"2", link=b"../victim") + raw(b"/evil", b"0", b"x"),
    "only slashes": raw(b"///", b"2", link=b"../victim")
    + raw(b".", b"2", link=b"../victim")
    + raw(b"evil", b"0", b"x"),
    "the directory itself as a link": raw(b"./", b"2", link=b"../victim") + raw(b"./evil", b"0", b"x"),
    "a name that is not text": raw(b"\xff\xfe/..\xff/evil", b"0", b"x")
    + raw(b"..\xff", b"2", link=b"../victim"),
}


@pytest.mark.parametrize("kind", RAW)
def test_a_tar_of_a_strange_form_is_harmless(arena: Arena, kind: str) -> None:
    Path(arena.desk.at("a.tar")).write_bytes(RAW[kind] + END)
    is_harmless(arena, arena.desk.at("a.tar"), "tar")


@pytest.mark.parametrize("form", ["tar", "zip"])
def test_a_file_with_a_second_name_outside_keeps_its_content(arena: Arena, form: str) -> None:
    """What is unpacked replaces a name; it is not written into what the name was."""
    os.link(os.path.join(arena.place, "victim/file"), os.path.join(arena.into, "h"))
    write = {"tar": write_tar, "zip": write_zip}[form]
    source = write(arena.desk.at(f"a.{form}"), [Member("h", text="evil", mode=0o777)])
    before = Path(arena.place, "victim/file").stat()
    done = arena.desk.call(
        extracted, arena.into, source=source, enforce_toplevel=False, force=True, overwrite=True
    )
    assert done.outcome is Outcome.OK
    after = Path(arena.place, "victim/file").stat()
    assert Path(arena.place, "victim/file").read_text() == "precious\n"
    assert (after.st_mode, after.st_uid) == (before.st_mode, before.st_uid)
    assert Path(arena.into, "h").read_text() == "evil"


# -- zip -----------------------------------------------------------------------------------------------------


def zipped(*members: tuple[str, dict[str, object]]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, words in members:
            info = zipfile.ZipInfo(name)
            for word, value in words.items():
                setattr(info, word, value)
            archive.writestr(info, "evil")
    return made.getvalue()


def unicode_path(name: str, other: str) -> bytes:
    """Info-ZIP's second name of a member."""
    data = struct.pack("<BI", 1, zlib.crc32(name.encode())) + other.encode()
    return struct.pack("<HH", 0x7075, len(data)) + data


LINK = (stat.S_IFLNK | 0o777) << 16
ZIPS = {
    "a second name": zipped(("a", {"extra": unicode_path("a", EVIL)})),
    "a second name for nothing": zipped(("a", {"extra": unicode_path("b", EVIL)})),
    "backslashes of DOS": zipped(("..\\victim\\evil", {"create_system": 0})),
    "backslashes of NTFS": zipped(("a\\..\\..\\victim\\evil", {"create_system": 10})),
    "a drive": zipped(
        ("C:..\\victim\\evil", {"create_system": 0}), ("C:/../../victim/evil", {"create_system": 0})
    ),
    "a link of a Mac": zipped(("l", {"create_system": 19, "external_attr": LINK}), ("l/evil", {})),
    "a link of DOS": zipped(("l", {"create_system": 0, "external_attr": LINK}), ("l/evil", {})),
    "a device": zipped(("d", {"create_system": 3, "external_attr": (stat.S_IFBLK | 0o666) << 16})),
    "setuid": zipped(("s", {"create_system": 3, "external_attr": (stat.S_IFREG | 0o6777) << 16})),
    "a directory by its bits": zipped(
        ("d", {"create_system": 3, "external_attr": (stat.S_IFDIR << 16) | 0x10})
    ),
    "full width dots": zipped(("\uff0e\uff0e/victim/evil", {}), ("\u2025/victim/evil", {})),
    "composed letters": zipped(("e\u0301", {"external_attr": LINK, "create_system": 3}), ("\xe9/evil", {})),
    "dots at the end": zipped(("a./../../victim/evil", {}), ("... /evil", {}), (".../evil", {})),
    "a name in the old charset": zipped(("..\xc4/evil", {})).replace(b"\xc3\x84", b"/\x80"),
}


def other_local_name() -> bytes:
    """The header before the data has another name than the list at the end."""
    data = zipped(("aaaaaaaaaaaaaa", {}))
    return data.replace(b"aaaaaaaaaaaaaa", EVIL.encode(), 1)


def other_central_name() -> bytes:
    data = zipped(("aaaaaaaaaaaaaa", {}))
    at = data.rindex(b"aaaaaaaaaaaaaa")
    return data[:at] + EVIL.encode() + data[at + 14 :]


ZIPS |= {
    "another name before the data": other_local_name(),
    "another name at the end": other_central_name(),
    "two lists": zipped(("fine", {})) + zipped((EVIL, {})),
    "bytes before": b"#!/bin/sh\n" * 50 + zipped((EVIL, {})),
    "a comment that is an archive": zipped(("fine", {}))[:-2]
    + struct.pack("<H", len(zipped((EVIL, {}))))
    + zipped((EVIL, {})),
}


@pytest.mark.parametrize("kind", ZIPS)
def test_a_zip_of_a_strange_form_is_harmless(arena: Arena, kind: str) -> None:
    Path(arena.desk.at("a.zip")).write_bytes(ZIPS[kind])
    is_harmless(arena, arena.desk.at("a.zip"), "zip")
