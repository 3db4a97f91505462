"""``archive``: pack, unpack and list archives."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import os
from collections.abc import Sequence

from saltern.modules.api import function
from saltern.modules.commands import words
from saltern.modules.context import Context
from saltern.modules.functions._data import each
from saltern.modules.functions.file.told import absolute, told
from saltern.modules.params import BadArgument
from saltern.modules.states._programs import output

Names = list[str]


def _texts(given: object) -> list[str]:
    """A list, or names with commas between them."""
    if given is None:
        return []
    parts = given.split(",") if isinstance(given, str) else each(given)
    return [str(part).strip() for part in parts]


def _found(sources: object, cwd: str | None) -> list[str]:
    """The names with wildcards resolved."""
    from glob import glob

    found: list[str] = []
    for source in _texts(sources):
        matches = sorted(glob(source, root_dir=cwd))
        found += matches or [source]
    return found


@function(name="list")
def list_(
    ctx: Context,
    name: str,
    archive_format: str | None = None,
    options: str | None = None,
    strip_components: int | None = None,
    clean: bool = False,
    verbose: bool = False,
    saltenv: str = "base",
    source_hash: str | None = None,
    use_etag: bool = False,
) -> object:
    """The names in an archive; with ``verbose`` by kind: ``dirs``, ``files``, ``links`` and the top level.

    Args:
        name: ``salt://``, a path or a web address.
        archive_format: where the name does not tell it.
        options, strip_components: what ``archive.extracted`` is given.
        source_hash: what the archive must have.

    Example:
        ```console
        $ saltern call archive.list /srv/downloads/tool-1.2.tar.gz
        local:
            - tool-1.2
            - tool-1.2/bin
            - tool-1.2/bin/tool
        ```
    """
    from saltern.modules.states.archive.entries import toplevel
    from saltern.modules.states.archive.formats import Packed, contents, form_of
    from saltern.modules.states.archive.material import located
    from saltern.modules.states.file.sources import Fetch

    given = words(options) if options else []
    if strip_components:
        given.append(f"--strip-components={strip_components}")
    fetch = Fetch(source_hash=source_hash or "", skip_verify=True, keep_source=False)
    with told(name), located(ctx, name, fetch) as (url, path):
        packed = Packed(path=path, form=form_of(archive_format, url, path), options=tuple(given))
        _, found = contents(ctx, packed)
    if not verbose:
        return [entry.name for entry in found]
    directories, others = toplevel(found)
    kinds = {"dirs": ("directory",), "files": ("file", "hardlink"), "links": ("link",)}
    return {
        **{word: sorted(one.name for one in found if one.kind in kind) for word, kind in kinds.items()},
        "top_level_dirs": directories,
        "top_level_files": [one for one in others if not _is_link(one, found)],
        "top_level_links": [one for one in others if _is_link(one, found)],
    }


def _is_link(name: str, found: Sequence[object]) -> bool:
    return any(getattr(one, "name", "") == name and getattr(one, "kind", "") == "link" for one in found)


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
    """Run ``tar`` and return what it prints.

    Args:
        options: such as ``czf`` or ``-x --gzip -f``; the archive follows them.
        tarfile: the archive.
        sources: what to pack, or to unpack; wildcards are allowed.
        dest: the directory to unpack into.
        cwd, runas: where, and as whom.

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
    argv = ["tar", *words(options), tarfile]
    argv += ["-C", dest] if dest else []
    argv += _found(sources, cwd)
    return output(ctx, argv, what="tar failed", cwd=cwd, user=runas).splitlines()


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
    return output(ctx, argv, what="gzip failed", user=runas).splitlines()


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
    return output(ctx, argv, what="gunzip failed", user=runas).splitlines()


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
    """Pack files and directories into a zip archive; the names that were packed.

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
    with told(zip_file), zipfile.ZipFile(absolute(zip_file), "w", zipfile.ZIP_DEFLATED) as archive:
        packed = [path for source in _found(sources, root) for path in _below(os.path.join(root, source))]
        for path in packed:
            archive.write(path, os.path.relpath(path, root) if cwd else path.lstrip("/"))
    return [os.path.relpath(path, root) if cwd else path.lstrip("/") for path in packed]


def _below(path: str) -> list[str]:
    if not os.path.exists(path):
        raise BadArgument(f"{path} does not exist")
    if not os.path.isdir(path):
        return [path]
    return [os.path.join(place, name) for place, _, names in os.walk(path) for name in sorted(names)]


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
    """Unpack a zip archive safely; the names that were unpacked.

    Example:
        ```console
        $ saltern call archive.unzip /srv/downloads/site.zip /var/www
        local:
            - about.html
            - index.html
        ```
    """
    from saltern.modules.states.archive.entries import check, limits_of
    from saltern.modules.states.archive.zips import entries, extract

    with told(zip_file):
        found = entries(absolute(zip_file), limits_of(ctx), password)
        check(found)
        left_out = set(_texts(excludes))
        wanted = [entry for entry in found if entry.name not in left_out]
        os.makedirs(absolute(dest), exist_ok=True)
        extract(absolute(zip_file), absolute(dest), wanted, password=password, perms=extract_perms)
    names = [entry.name for entry in wanted]
    return names[: 100 if trim_output is True else int(trim_output)] if trim_output else names


@function
def is_encrypted(ctx: Context, name: str, clean: bool = False, saltenv: str = "base") -> bool:
    """Whether a zip archive asks for a password.

    Example:
        ```console
        $ saltern call archive.is_encrypted /srv/downloads/site.zip
        local:
            False
        ```
    """
    import zipfile

    with told(name):
        try:
            with zipfile.ZipFile(absolute(name)) as archive:
                return any(info.flag_bits & 1 for info in archive.infolist())
        except zipfile.BadZipFile:
            raise BadArgument(f"{name} is not a zip archive") from None
