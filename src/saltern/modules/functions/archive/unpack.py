"""``archive``: unpack archives below one directory, and nowhere else."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase

from saltern.modules.api.commands import words
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.programs import output
from saltern.modules.functions.archive.arguments import (
    Names,
    output_names,
    owner,
    resolve_wildcards,
    texts,
    trim_names,
)
from saltern.modules.functions.file.errors import absolute, explain_errors
from saltern.modules.lib.archives import judge, tars, tools, zips
from saltern.modules.lib.archives.entries import Entry, Meter, limits_of
from saltern.modules.lib.archives.extract import extract
from saltern.modules.lib.archives.tools import check_options
from saltern.modules.lib.archives.unpack_directory import Staged, make_scratch, staged_members
from saltern.system import files
from saltern.system.rooted import Rooted


@function
def tar(
    ctx: Context,
    options: str,
    tarfile: str,
    sources: object = None,
    dest: str | None = None,
    cwd: str | None = None,
    template: str | None = None,
    runas: str | None = None,
) -> Names:
    """Run ``tar`` and return its output.

    It unpacks into a private directory, from which everything is moved to its destination: neither a hostile
    archive nor another user can redirect it elsewhere. As another user (``runas``) it unpacks in place.

    Args:
        options: such as ``czf`` or ``-x --gzip -f``; the archive follows them.
        tarfile: the archive.
        sources: what to pack, or to unpack; wildcards are allowed.
        dest: the directory to unpack into.
        cwd, runas: the directory to run it in, and the user to run it as.

    Example:
        ```console
        $ saltern call archive.tar xzf /srv/downloads/tool-1.2.tar.gz dest=/opt
        local:
        $ saltern call file.readdir /opt/tool-1.2
        local:
            - .
            - ..
            - bin
        ```
    """
    given = words(options)
    argv = ["tar", *given, tarfile]
    if not _extracts(given) or runas or ctx.runas:
        argv += ["-C", dest] if dest else []
        argv += resolve_wildcards(sources, cwd)
        return output_names(ctx, argv, what="tar failed", cwd=cwd, user=runas)
    check_options(given)
    path = os.path.join(cwd or "/", tarfile)
    into = os.path.join(cwd or "/", dest or "")
    with explain_errors(tarfile), make_scratch() as scratch:
        judge.check(tars.entries(ctx, path, limits_of(ctx)))
        printed = output_names(
            ctx, [*argv, "-C", scratch.path, *resolve_wildcards(sources, cwd)], what="tar failed", cwd=cwd
        )
        _move_in(ctx, scratch.path, path, into)
    return printed


def _extracts(options: Sequence[str]) -> bool:
    """True for ``xf``, ``-xf`` or ``--extract``; only the first word may omit its hyphen."""
    bundles = [word for word in options if word[:1] == "-" and word[:2] != "--"]
    bundles += [word for word in options[:1] if not word.startswith("-")]
    return any("x" in word for word in bundles) or not {"--extract", "--get"}.isdisjoint(options)


def _move_in(
    ctx: Context, scratch: str, path: str, into: str, wanted: files.Attributes = files.KEPT
) -> list[Entry]:
    """Copy what a program has unpacked in a private directory to its destination, by file handles."""
    files.make_directories(into)
    kept = Staged(path=scratch, owners=True, modes=True)
    with Rooted(into) as tree:
        return extract(staged_members(kept, Meter(limits_of(ctx), path)), tree, wanted)


@function
def unzip(
    ctx: Context,
    zip_file: str,
    dest: str,
    excludes: object = None,
    options: str | None = None,
    template: str | None = None,
    runas: str | None = None,
    trim_output: bool | int = False,
    password: str | None = None,
    extract_perms: bool = True,
) -> Names:
    """Unpack a zip archive safely. Returns the unpacked names.

    Example:
        ```console
        $ saltern call archive.unzip /srv/downloads/site.zip /var/www
        local:
            - about.html
            - index.html
        ```
    """
    left_out = set(texts(excludes))
    path, limits = absolute(zip_file), limits_of(ctx)
    with explain_errors(zip_file):
        judge.check(zips.entries(path, limits, password))
        files.make_directories(absolute(dest))
        with (
            Rooted(absolute(dest)) as tree,
            zips.members(path, limits, password, perms=extract_perms) as all_,
        ):
            wanted = extract((one for one in all_ if one[0].member not in left_out), tree, owner(runas))
    return trim_names([entry.member for entry in wanted], trim_output)


@function
def cmd_unzip(
    ctx: Context,
    zip_file: str,
    dest: str,
    excludes: object = None,
    options: str | None = None,
    template: str | None = None,
    runas: str | None = None,
    trim_output: bool | int = False,
    password: str | None = None,
) -> Names:
    """Unpack with the program ``unzip``, in a private directory first. Returns its output.

    Args:
        zip_file: the archive.
        dest: the directory to unpack into.
        excludes: names to leave out, with wildcards.
        options: options of the program, such as ``-j``.
        runas: the user who runs it and owns the unpacked files.
        trim_output: return only the first 100 lines, or that many.
        password: the password of an encrypted archive.

    Example:
        ```console
        $ saltern call archive.cmd_unzip /srv/downloads/site.zip /var/www trim_output=1
        local:
            - Archive:  /srv/downloads/site.zip
        ```
    """
    path, into = absolute(zip_file), absolute(dest)
    given = words(options) if options else []
    check_options(given)
    secret = ["-P", password] if password else []
    left_out = ["-x", *texts(excludes)] if excludes is not None else []
    with explain_errors(zip_file), make_scratch() as scratch:
        judge.check(zips.entries(path, limits_of(ctx), password))
        argv = ["unzip", "-o", *secret, *given, path, "-d", scratch.path, *left_out]
        printed = output(ctx, argv, what="unzip failed", secrets=[password])
        _move_in(ctx, scratch.path, path, into, owner(runas))
    return trim_names(printed.replace(scratch.path, into).splitlines(), trim_output)


@function
def unrar(
    ctx: Context,
    rarfile: str,
    dest: str,
    excludes: object = None,
    template: str | None = None,
    runas: str | None = None,
    trim_output: bool | int = False,
) -> Names:
    """Unpack a rar archive with an installed program. Returns the unpacked names.

    Args:
        rarfile: the archive.
        dest: the directory to unpack into.
        excludes: names to leave out, with wildcards.
        runas: the user who owns the unpacked files.
        trim_output: return only the first 100 names, or that many.

    Example:
        ```console
        $ saltern call archive.unrar /srv/downloads/app.rar /srv/app
        ```
    """
    path, patterns, limits = absolute(rarfile), texts(excludes), limits_of(ctx)
    with explain_errors(rarfile):
        judge.check(tools.entries(ctx, "rar", path, limits))
        files.make_directories(absolute(dest))
        with Rooted(absolute(dest)) as tree, tools.members(ctx, "rar", path, limits) as all_:
            wanted = (one for one in all_ if not any(fnmatchcase(one[0].name, word) for word in patterns))
            done = extract(wanted, tree, owner(runas))
    return trim_names([entry.name for entry in done], trim_output)
