"""``archive``: pack files and directories into archives."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import io
import os
from collections.abc import Iterator

from saltern.modules.api.commands import words
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.archive.arguments import Names, output_names, owner, resolve_wildcards
from saltern.modules.functions.file.errors import absolute, explain_errors
from saltern.system import files


@function
def gzip(
    ctx: Context,
    sourcefile: str,
    template: str | None = None,
    runas: str | None = None,
    options: str | None = None,
) -> Names:
    """Compress a file with ``gzip``.

    Example:
        ```console
        $ saltern call archive.gzip /srv/app/list.txt
        local:
        ```
    """
    argv = ["gzip", *(words(options) if options else []), "--", absolute(sourcefile)]
    return output_names(ctx, argv, what="gzip failed", user=runas)


@function
def gunzip(
    ctx: Context,
    gzipfile: str,
    template: str | None = None,
    runas: str | None = None,
    options: str | None = None,
) -> Names:
    """Decompress a file with ``gunzip``.

    Example:
        ```console
        $ saltern call archive.gzip /srv/app/list.txt
        local:
        $ saltern call archive.gunzip /srv/app/list.txt.gz
        local:
        ```
    """
    argv = ["gunzip", *(words(options) if options else []), "--", absolute(gzipfile)]
    return output_names(ctx, argv, what="gunzip failed", user=runas)


@function(name="zip")
def zip_(
    ctx: Context,
    zip_file: str,
    sources: object,
    template: str | None = None,
    cwd: str | None = None,
    runas: str | None = None,
    zip64: bool = False,
) -> Names:
    """Pack files and directories into a zip archive. Returns the packed names, directories with ``/``.

    Args:
        zip_file: the archive.
        sources: what to pack, with wildcards; relative names need ``cwd``.
        cwd: the directory that names in the archive are relative to.
        runas: the user who owns the archive.

    Example:
        ```console
        $ saltern call archive.zip /srv/app.zip /srv/app/list.txt,/srv/app/other.txt
        local:
            - srv/app/list.txt
            - srv/app/other.txt
        ```
    """
    import zipfile

    root = absolute(cwd) if cwd else "/"
    data = io.BytesIO()
    packed = []
    with explain_errors(zip_file):
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
            for source in resolve_wildcards(sources, root):
                if not cwd and not os.path.isabs(source):
                    raise BadArgument(f"{source!r} is a relative path; give cwd")
                for path in _below(os.path.join(root, source)):
                    name = os.path.relpath(path, root)
                    packed.append(f"{name}/" if os.path.isdir(path) else name)
                    archive.write(path, name)
        files.write(absolute(zip_file), data.getvalue(), owner(runas))
    return packed


def _below(path: str) -> Iterator[str]:
    """The path and, for a directory, everything in it: each directory before its contents."""
    if not os.path.exists(path):
        raise BadArgument(f"{path} does not exist")
    if not os.path.isdir(path):
        yield path
        return
    for place, directories, names in os.walk(path):
        directories.sort()
        yield place
        yield from (os.path.join(place, name) for name in sorted(names))


@function
def cmd_zip(
    ctx: Context,
    zip_file: str,
    sources: object,
    template: str | None = None,
    cwd: str | None = None,
    runas: str | None = None,
) -> Names:
    """Pack with the program ``zip``. Returns its output.

    Args:
        zip_file: the archive.
        sources: what to pack, directories with their contents; wildcards are allowed.
        cwd, runas: the directory to run it in, and the user to run it as.

    Example:
        ```console
        $ saltern call archive.cmd_zip /srv/app.zip list.txt cwd=/srv/app
        local:
            -   adding: list.txt (stored 0%)
        ```
    """
    argv = ["zip", "-r", absolute(zip_file), *resolve_wildcards(sources, cwd)]
    return output_names(ctx, argv, what="zip failed", cwd=cwd, user=runas)


@function
def rar(
    ctx: Context,
    rarfile: str,
    sources: object,
    template: str | None = None,
    cwd: str | None = None,
    runas: str | None = None,
) -> Names:
    """Pack with the program ``rar``. Returns its output.

    Args:
        rarfile: the archive.
        sources: what to pack; wildcards are allowed.
        cwd, runas: the directory to run it in, and the user to run it as.

    Example:
        ```console
        $ saltern call archive.rar /srv/app.rar list.txt cwd=/srv/app
        ```
    """
    argv = ["rar", "a", "-idp", "--", absolute(rarfile), *resolve_wildcards(sources, cwd)]
    return output_names(ctx, argv, what="rar failed", cwd=cwd, user=runas)
