"""Archives made to do harm, as lists of members that are written as tar or as zip."""

from __future__ import annotations

import io
import stat
import tarfile
import warnings
import zipfile
from typing import NamedTuple

LONG = "d" * 247
STEPS = "abcdefghijklmnop"


class Member(NamedTuple):
    """``kind`` is one of TYPES; links have a ``text`` that is their target."""

    name: str
    kind: str = "file"
    text: str = "written by the archive\n"
    mode: int = 0o755


TYPES = {
    "file": tarfile.REGTYPE,
    "directory": tarfile.DIRTYPE,
    "link": tarfile.SYMTYPE,
    "hardlink": tarfile.LNKTYPE,
    "pipe": tarfile.FIFOTYPE,
    "device": tarfile.CHRTYPE,
}
BITS = {
    "file": stat.S_IFREG,
    "directory": stat.S_IFDIR,
    "link": stat.S_IFLNK,
    "hardlink": stat.S_IFREG,
    "pipe": stat.S_IFIFO,
    "device": stat.S_IFCHR,
}


def write_tar(path: str, members: list[Member], form: int = tarfile.PAX_FORMAT) -> str:
    with tarfile.open(path, "w", format=form) as archive:
        for member in members:
            info = tarfile.TarInfo(member.name)
            info.type, info.mode, info.uid, info.gid = TYPES[member.kind], member.mode, 1234, 1234
            data = member.text.encode("utf-8", "surrogateescape")
            if "link" in member.kind:
                info.linkname, data = member.text, b""
            elif member.kind != "file":
                data = b""
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def write_zip(path: str, members: list[Member]) -> str:
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        for member in members:
            info = zipfile.ZipInfo(member.name or "x")
            info.create_system = 3
            info.external_attr = (BITS[member.kind] | member.mode) << 16
            archive.writestr(info, b"" if member.kind == "directory" else member.text)
    return path


def link_chain(slash: str, escape: str) -> list[Member]:
    """Links to directories with long names: resolved, their path is longer than the system resolves."""
    members = [Member("q", "directory")]
    at = "q"
    for step in STEPS:
        members.append(Member(f"{at}/{LONG}", "directory"))
        members.append(Member(f"{at}{slash}{step}", "link", LONG))
        at = f"{at}/{step}"
    members.append(Member(f"{at}{slash}{'l' * 254}", "link", "../" * len(STEPS) + "."))
    members.append(Member(f"q{slash}escape", "link", "/".join(STEPS) + f"/{'l' * 254}/../../{escape}"))
    members.append(Member("q/escape/victim"))
    return members


DEEP = "p0/p1/p2/p3/p4/p5/p6/p7/p8"

ATTACKS: dict[str, list[Member]] = {
    "dots": [Member("a/../../victim/evil")],
    "dots after slashes": [Member("a//..//..//victim/evil")],
    "dots after dot": [Member("./././../victim/evil")],
    "absolute": [Member("{outside}/victim/evil")],
    "two slashes": [Member("/{outside}/victim/evil")],
    "link and file": [Member("l", "link", "../victim"), Member("l/evil")],
    "absolute link": [Member("l", "link", "{outside}/victim"), Member("l/evil")],
    "link named with two slashes": [Member("q//a", "link", "../../victim"), Member("q/a/evil")],
    "link behind a link": [
        Member("a", "link", "."),
        Member("a/b", "link", ".."),
        Member("a/b/victim/evil"),
    ],
    "link to itself and up": [
        Member("x", "link", "."),
        Member("y", "link", "x/../../victim"),
        Member("y/evil"),
    ],
    "up behind a link": [
        Member(f"{DEEP}/x"),
        Member("deep", "link", DEEP),
        Member(f"{DEEP}/top", "link", "../../../../../../../../.."),
        Member("c", "link", f"{DEEP}/top/../victim"),
        Member("c/evil"),
    ],
    "chain": link_chain("/", "victim"),
    "chain with two slashes": link_chain("//", "victim"),
    "chain with a dot": link_chain("/./", "victim"),
    "link replaced by directory": [
        Member("d", "link", "../victim"),
        Member("d", "directory"),
        Member("d/evil"),
    ],
    "directory replaced by link": [
        Member("d", "directory"),
        Member("d", "link", "../victim"),
        Member("d/evil"),
    ],
    "file, link, file": [
        Member("f", text="1"),
        Member("f", "link", "../victim/file"),
        Member("f", text="evil"),
    ],
    "write to the link": [Member("f", "link", "../victim/file"), Member("f", text="evil")],
    "hard link out": [Member("h", "hardlink", "../victim/file"), Member("h", text="evil")],
    "hard link absolute": [Member("h", "hardlink", "{outside}/victim/file"), Member("h", text="evil")],
    "hard link to a link": [
        Member("l", "link", "../victim/file"),
        Member("h", "hardlink", "l"),
        Member("h", text="evil"),
    ],
    "hard link behind a link": [
        Member("l", "link", "../victim"),
        Member("h", "hardlink", "l/file"),
        Member("h", text="evil"),
    ],
    "proc": [Member("p", "link", "/proc/self/cwd"), Member("p/evil")],
    "pipe": [Member("p", "pipe")],
    "device": [Member("d", "device")],
    "deep": [Member("/".join(["d"] * 3000))],
    "long name": [Member("n" * 5000)],
    "dots with a backslash": [Member("..\\..\\victim\\evil"), Member("../victim/evil")],
    "case": [Member("L", "link", "../victim"), Member("l/evil"), Member("L/evil")],
    "newline": [Member("l\n", "link", "../victim"), Member("l\n/evil")],
}


def filled(members: list[Member], outside: str) -> list[Member]:
    return [
        member._replace(name=member.name.format(outside=outside), text=member.text.format(outside=outside))
        for member in members
    ]
