"""Archives that a program of the machine unpacks: 7z, rar, and tar or zip with options of its own.

It works in a private directory; what it left there is looked at before it is moved into place.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence

from msgspec import Struct

from saltern.modules.context import Context
from saltern.modules.states._programs import output, program
from saltern.modules.states.archive.entries import Entry, Limits, Meter, check, inside, make_room, tidy
from saltern.modules.states.file.answers import Refusal

Listing = Callable[[str], list[Entry]]


class Tool(Struct, frozen=True, kw_only=True):
    """A program that can list and unpack. ``{}`` in its words is the archive, ``{into}`` the directory."""

    name: str
    list: tuple[str, ...] = ()
    read: Listing | None = None
    extract: tuple[str, ...]


def _seven(text: str) -> list[Entry]:
    """``7z l -slt``: a block of ``Key = value`` lines for each entry."""
    return [_from_block(block, "Path", "Size") for block in _blocks(text, " = ") if "Path" in block]


def _unrar(text: str) -> list[Entry]:
    """``unrar lt``: a block of ``Key: value`` lines for each entry."""
    return [_from_block(block, "Name", "Size") for block in _blocks(text, ": ") if "Name" in block]


def _bsdtar(text: str) -> list[Entry]:
    """Names only; what they are is seen once they are unpacked."""
    return [
        Entry(name=tidy(line), kind="directory" if line.endswith("/") else "file", member=line)
        for line in text.splitlines()
        if tidy(line)
    ]


def _blocks(text: str, separator: str) -> list[dict[str, str]]:
    return [
        {
            key.strip(): value
            for line in block.splitlines()
            for key, found, value in (line.partition(separator),)
            if found
        }
        for block in text.split("\n\n")
    ]


def _from_block(block: dict[str, str], name: str, size: str) -> Entry:
    member = block[name]
    attributes = block.get("Attributes", "")
    folder = block.get("Folder") == "+" or block.get("Type") == "Directory" or attributes.startswith("D")
    target = block.get("Symbolic Link") or (
        block.get("Target", "") if "link" in block.get("Type", "") else ""
    )
    digits = block.get(size, "").strip()
    return Entry(
        name=tidy(member),
        kind="directory" if folder else "link" if target else "file",
        member=member,
        size=int(digits) if digits.isdecimal() else 0,
        target=target,
    )


SEVEN = Tool(
    name="7z", list=("l", "-slt", "-ba", "--", "{}"), read=_seven, extract=("x", "-y", "-o{into}", "--", "{}")
)
BSDTAR = Tool(
    name="bsdtar", list=("-t", "-f", "{}"), read=_bsdtar, extract=("-x", "-f", "{}", "-C", "{into}")
)
UNRAR = Tool(
    name="unrar",
    list=("lt", "-p-", "--", "{}"),
    read=_unrar,
    extract=("x", "-y", "-p-", "--", "{}", "{into}/"),
)

TOOLS: dict[str, tuple[Tool, ...]] = {
    "7z": (SEVEN, Tool(name="7za", list=SEVEN.list, read=_seven, extract=SEVEN.extract), BSDTAR),
    "rar": (UNRAR, SEVEN, BSDTAR),
    "tar": (Tool(name="tar", extract=("-x", "{options}", "-f", "{}", "-C", "{into}")),),
    "zip": (Tool(name="unzip", extract=("-o", "{options}", "{}", "-d", "{into}")),),
}


def tool_for(ctx: Context, form: str) -> Tool:
    """The first program of the row that this machine has; asked once in a run."""
    key = f"archive.tool.{form}"
    known = ctx.run.context.get(key)
    if isinstance(known, Tool):
        return known
    for tool in TOOLS[form]:
        if program(ctx, [tool.name, "--help"]).pid:
            ctx.run.context[key] = tool
            return tool
    names = " or ".join(tool.name for tool in TOOLS[form])
    raise Refusal(f"{form} archives need the program {names}, and this machine has none; install one")


def entries(ctx: Context, form: str, path: str, limits: Limits) -> list[Entry]:
    tool = tool_for(ctx, form)
    assert tool.read is not None
    argv = [tool.name, *(path if word == "{}" else word for word in tool.list)]
    found = tool.read(output(ctx, argv, what=f"cannot list {path}"))
    meter = Meter(limits)
    for entry in found:
        meter.add(entry.size)
    return found


def extract(
    ctx: Context, form: str, path: str, into: str, *, options: Sequence[str] = (), limits: Limits
) -> None:
    from tempfile import TemporaryDirectory

    tool = tool_for(ctx, form)
    with TemporaryDirectory(prefix=".saltern-", dir=into) as scratch:
        argv = [tool.name]
        for word in tool.extract:
            words = options if word == "{options}" else (word.replace("{into}", scratch),)
            argv += [path if one == "{}" else one for one in words]
        output(ctx, argv, what=f"cannot unpack {path}")
        check(_walked(scratch, limits))
        _merge(scratch, into)


def _walked(root: str, limits: Limits) -> list[Entry]:
    meter = Meter(limits)
    found = []
    for place, directories, names in os.walk(root):
        for name in (*directories, *names):
            path = os.path.join(place, name)
            info = os.lstat(path)
            meter.add(info.st_size)
            target = os.readlink(path) if stat.S_ISLNK(info.st_mode) else ""
            found.append(Entry(name=os.path.relpath(path, root), kind=_kind(info.st_mode), target=target))
    return found


def _kind(mode: int) -> str:
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}
    return kinds.get(stat.S_IFMT(mode), "device")


def _merge(scratch: str, into: str) -> None:
    """Move everything to its place; directories that are there already keep what they hold."""
    for place, directories, names in os.walk(scratch):
        below = os.path.relpath(place, scratch)
        for name in list(directories):
            here = os.path.join(place, name)
            there = inside(into, os.path.normpath(os.path.join(below, name)))
            if os.path.islink(here) or not os.path.isdir(there):
                make_room(there)
                os.rename(here, there)
                directories.remove(name)
        for name in names:
            there = inside(into, os.path.normpath(os.path.join(below, name)))
            make_room(there)
            os.rename(os.path.join(place, name), there)
