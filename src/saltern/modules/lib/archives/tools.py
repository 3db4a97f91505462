"""Archives that an installed program unpacks: 7z, rar, and tar or zip with special options.

It works in a private directory; its output is checked and copied like the members of any archive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import output, program
from saltern.modules.api.refused import Refused
from saltern.modules.lib.archives.entries import Entry, Limits, Meter
from saltern.modules.lib.archives.judge import normal
from saltern.modules.lib.archives.tars import BOUNDED
from saltern.modules.lib.archives.unpack_directory import Member, Staged, make_scratch, staged_members

Listing = Callable[[str], list[Entry]]


class Tool(Struct, frozen=True, kw_only=True):
    """A program that can list and unpack. ``{}`` in its arguments is the archive, ``{into}`` the
    directory.
    """

    name: str
    list: tuple[str, ...] = ()
    read: Listing | None = None
    extract: tuple[str, ...]
    trusted: bool = False  # our own reader has checked the archive before


def _seven(text: str) -> list[Entry]:
    """``7z l -slt``: a block of ``Key = value`` lines for each entry."""
    return [_from_block(block, "Path", "Size") for block in _blocks(text, " = ") if "Path" in block]


def _unrar(text: str) -> list[Entry]:
    """``unrar lt``: a block of ``Key: value`` lines for each entry."""
    return [_from_block(block, "Name", "Size") for block in _blocks(text, ": ") if "Name" in block]


def _bsdtar(text: str) -> list[Entry]:
    """The names; their kinds are known once they are unpacked."""
    return [
        Entry(name=normal(line), kind="directory" if line.endswith("/") else "file", member=line)
        for line in text.splitlines()
        if normal(line)
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
        name=normal(member),
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
    "tar": (Tool(name="tar", extract=("-x", "{options}", "-f", "{}", "-C", "{into}"), trusted=True),),
    "zip": (Tool(name="unzip", extract=("-o", "{options}", "{}", "-d", "{into}"), trusted=True),),
}


def tool_for(ctx: Context, form: str) -> Tool:
    """The first installed program for a format; determined once per run."""
    key = f"archive.tool.{form}"
    known = ctx.run.context.get(key)
    if isinstance(known, Tool):
        return known
    for tool in TOOLS[form]:
        if program(ctx, [tool.name, "--help"]).pid:
            ctx.run.context[key] = tool
            return tool
    names = " or ".join(tool.name for tool in TOOLS[form])
    raise Refused(f"{form} archives need the program {names}, and this machine has none; install one")


def entries(ctx: Context, form: str, path: str, limits: Limits) -> list[Entry]:
    tool = tool_for(ctx, form)
    assert tool.read is not None
    argv = [tool.name, *(path if word == "{}" else word for word in tool.list)]
    found = tool.read(output(ctx, argv, what=f"cannot list {path}"))
    meter = Meter(limits, path)
    for entry in found:
        meter.add(entry.size, len(entry.name))
    return found


OUTSIDE = {"-P", "--absolute-names", "-C", "--directory", "-d", "--one-top-level", "-:"}
SAME_OWNER = frozenset({"--same-owner", "--preserve"})
SAME_MODE = frozenset({"-p", "--preserve-permissions", "--same-permissions", "--preserve"})


def check_options(options: Sequence[str]) -> None:
    """Raise for options that make the program write outside of its directory."""
    for word in options:
        name = word.partition("=")[0]
        bundled = set(word[1:]) & set("PC:") if word[:1] == "-" and word[:2] != "--" else set()
        if name in OUTSIDE or bundled:
            raise Refused(f"the option {word!r} would unpack outside of the directory; leave it out")


@contextmanager
def members(
    ctx: Context,
    form: str,
    path: str,
    limits: Limits,
    *,
    options: Sequence[str] = (),
    password: str | None = None,
) -> Iterator[Iterator[Member]]:
    """The members that the program unpacks in a private directory."""
    tool = tool_for(ctx, form)
    check_options(options)
    with make_scratch() as scratch:
        argv = [*BOUNDED, str(limits.room(path) // 512 + 1), tool.name]
        secret = ["-P", password] if password else []
        for word in tool.extract:
            words = [*secret, *options] if word == "{options}" else (word.replace("{into}", scratch.path),)
            argv += [path if one == "{}" else one for one in words]
        user = None if tool.trusted else scratch.give_away(path)
        argv = [scratch.copy if word == path and user else word for word in argv]
        output(ctx, argv, what=f"cannot unpack {path}", user=user, secrets=[password])
        keep = Staged(
            path=scratch.path,
            owners=not SAME_OWNER.isdisjoint(options),
            modes=not SAME_MODE.isdisjoint(options),
        )
        yield staged_members(keep, Meter(limits, path))
