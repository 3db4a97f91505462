"""Detect the format of an archive, list it and unpack it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

from msgspec import Struct

from saltern.language.diagnostics import did_you_mean
from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.archives import tars, tools, zips
from saltern.modules.lib.archives.entries import Entry, limits_of
from saltern.modules.lib.archives.extract import extract
from saltern.modules.lib.archives.judge import check
from saltern.modules.lib.archives.selection import ALL, Selection, selection
from saltern.system.files import KEPT, Attributes
from saltern.system.rooted import Rooted

SUFFIXES: dict[str, tuple[str, ...]] = {
    "tar": (
        *(".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz", ".tbz2", ".tar.xz", ".txz"),
        *(".tar.zst", ".tzst", ".tar.lzma", ".tlz", ".crate"),
    ),
    "zip": (".zip", ".jar", ".war", ".ear", ".whl", ".apk", ".vsix", ".xpi"),
    "rar": (".rar",),
    "7z": (".7z",),
}


class Packed(Struct, frozen=True, kw_only=True):
    """An archive on disk, and the user's options."""

    path: str
    form: str
    options: tuple[str, ...] = ()
    password: str | None = None
    by_program: bool = False
    perms: bool = True

    @property
    def selection(self) -> Selection | None:
        """What to exclude and strip; None if a program has to do it."""
        if self.form == "tar" and not self.by_program:
            return selection(self.options)
        return None if self.options or self.by_program else ALL


def form_of(given: str | None, source: str, path: str = "") -> str:
    """The format by the argument, the name of the source, or the content."""
    if given:
        form = given.lower().removeprefix(".")
        if form not in SUFFIXES:
            hint = did_you_mean(form, SUFFIXES) or f"use one of {', '.join(SUFFIXES)}"
            raise Refused(f"no archive_format is called {given!r}; {hint}")
        return form
    name = source.partition("?")[0].lower()
    for form, suffixes in SUFFIXES.items():
        if name.endswith(suffixes):
            return form
    return _sniff(path) or _unknown(source)


def _sniff(path: str) -> str:
    if not path:
        return ""
    import tarfile
    import zipfile

    if zipfile.is_zipfile(path):
        return "zip"
    return "tar" if tarfile.is_tarfile(path) else ""


def _unknown(source: str) -> str:
    raise Refused(
        f"cannot determine what kind of archive {source} is; give archive_format ({', '.join(SUFFIXES)})"
    )


def contents(ctx: Context, packed: Packed) -> tuple[list[Entry], list[Entry]]:
    """All entries of the archive, and those that will be unpacked. Raises for a hostile one."""
    limits = limits_of(ctx)
    if packed.password and packed.form != "zip":
        raise Refused(f"password is for zip archives; {packed.form} archives with one are not unpacked")
    if packed.form == "zip":
        found = zips.entries(packed.path, limits, packed.password)
    elif packed.form == "tar":
        found = tars.entries(ctx, packed.path, limits)
    else:
        found = tools.entries(ctx, packed.form, packed.path, limits)
    check(found)
    chosen = packed.selection
    if packed.form != "tar" or chosen in (None, ALL):
        return found, found
    landing = tars.entries(ctx, packed.path, limits, chosen or ALL)
    check(landing)
    return found, landing


def unpack(ctx: Context, packed: Packed, tree: Rooted, owner: Attributes = KEPT) -> list[Entry]:
    """Unpack below ``tree``, and return what was written. The archive is checked again while it is read."""
    with _members(ctx, packed) as members:
        return extract(members, tree, owner)


def _members(ctx: Context, packed: Packed) -> AbstractContextManager[Iterator[tars.Member]]:
    limits = limits_of(ctx)
    chosen = packed.selection
    if chosen is not None and packed.form == "tar":
        return tars.members(ctx, packed.path, limits, chosen)
    if chosen is not None and packed.form == "zip":
        return zips.members(packed.path, limits, packed.password, perms=packed.perms)
    return tools.members(
        ctx, packed.form, packed.path, limits, options=packed.options, password=packed.password
    )
