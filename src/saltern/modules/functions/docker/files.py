"""``docker``: copy files into and out of containers, and archive containers and images."""

from __future__ import annotations

import io
import os
from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.functions.docker.container_query import the
from saltern.modules.lib.containers import images, lifecycle
from saltern.modules.lib.containers.engine import engine

COMPRESSIONS = {"gzip": "gzip", "gz": "gzip", "bz2": "bz2", "bzip2": "bz2", "xz": "lzma", "lzma": "lzma"}


@function
def copy_from(
    ctx: Context, name: str, source: str, dest: str, overwrite: bool = False, makedirs: bool = False
) -> bool:
    """Copy a file out of a container.

    Args:
        name: the name or ID of the container.
        source: its path in the container.
        dest: the destination, a path or a directory.
        overwrite: replace an existing file.
        makedirs: create the directory.

    Example:
        ```console
        $ saltern call docker.copy_from web /etc/passwd /srv/passwd
        ```
    """
    import tarfile

    target = os.path.join(dest, os.path.basename(source)) if os.path.isdir(dest) else dest
    _place(ctx, target, overwrite, makedirs)
    docker = engine(ctx)
    body = docker.ask("GET", f"/containers/{the(docker, name)['Id']}/archive", {"path": source}).body
    with tarfile.open(fileobj=io.BytesIO(body)) as archive:
        member = archive.next()
        file = archive.extractfile(member) if member is not None and member.isfile() else None
        if file is None:
            raise Refused(f"{source} in {name} is not a file; only files can be copied")
        ctx.host.write(target, file.read())
    return True


@function
def copy_to(
    ctx: Context, name: str, source: str, dest: str, overwrite: bool = False, makedirs: bool = False
) -> bool:
    """Copy a file into a container.

    Args:
        name: the name or ID of the container.
        source: the file, a path or ``salt://``.
        dest: its path in the container.
        overwrite: replace an existing file.
        makedirs: create the directory.

    Example:
        ```console
        $ saltern call docker.copy_to web /etc/hostname /tmp/hostname
        ```
    """
    docker = engine(ctx)
    container, data = the(docker, name)["Id"], ctx.host.read_bytes(images.local(ctx, source))
    if data is None:
        raise Refused(f"there is no file {source!r}")
    folder, _, file = dest.rpartition("/")
    path = f"/containers/{container}/archive"
    if not overwrite and _is_there(ctx, path, dest):
        raise Refused(f"{dest} is in {name} already; set overwrite to True to replace it")
    parts = folder.strip("/").split("/") if makedirs else []
    above = ["/".join(parts[: count + 1]) for count in range(len(parts)) if parts[0]]
    inside, where = (f"{folder.strip('/')}/{file}", "/") if makedirs else (file, folder or "/")
    docker.ask("PUT", path, {"path": where}, body=_archive(above, inside, data))
    return True


def _is_there(ctx: Context, path: str, dest: str) -> bool:
    try:
        engine(ctx).ask("HEAD", path, {"path": dest})
    except Refused:
        return False
    return True


def _archive(folders: list[str], name: str, data: bytes) -> bytes:
    import tarfile

    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for folder in folders:
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        entry = tarfile.TarInfo(name.lstrip("/"))
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()


@function
def export(
    ctx: Context,
    name: str,
    path: str,
    overwrite: bool = False,
    makedirs: bool = False,
    compression: str | None = None,
) -> dict[str, Any]:
    """Write the files of a container to an archive. Returns ``{Path, Size}``.

    Args:
        name: the name or ID of the container.
        path: the archive.
        overwrite: replace an existing file.
        makedirs: create the directory.
        compression: ``gzip``, ``bz2`` or ``xz``.

    Example:
        ```console
        $ saltern call docker.export web /srv/web.tar
        ```
    """
    return _save_image(
        ctx, f"/containers/{lifecycle.check_name(name)}/export", path, overwrite, makedirs, compression
    )


@function
def save(
    ctx: Context,
    name: str,
    path: str,
    overwrite: bool = False,
    makedirs: bool = False,
    compression: str | None = None,
) -> dict[str, Any]:
    """Write an image to an archive. Returns ``{Path, Size}``.

    Args:
        name: the name or ID of the image.
        path: the archive.
        overwrite: replace an existing file.
        makedirs: create the directory.
        compression: ``gzip``, ``bz2`` or ``xz``.

    Example:
        ```console
        $ saltern call docker.save busybox:1.36 /srv/busybox.tar
        ```
    """
    return _save_image(ctx, f"/images/{images.check_name(name)}/get", path, overwrite, makedirs, compression)


def _save_image(
    ctx: Context, asked: str, path: str, overwrite: bool, makedirs: bool, compression: str | None
) -> dict[str, Any]:
    if compression is not None and compression not in COMPRESSIONS:
        raise Refused(f"compression must be gzip, bz2 or xz, not {compression!r}")
    _place(ctx, path, overwrite, makedirs)
    data = engine(ctx).ask("GET", asked, timeout=images.LONG).body
    ctx.host.write(path, _compress(data, compression))
    return {"Path": path, "Size": os.path.getsize(path)}


def _compress(data: bytes, compression: str | None) -> bytes:
    if compression is None:
        return data
    from importlib import import_module

    packed: bytes = import_module(COMPRESSIONS[compression]).compress(data)
    return packed


def _place(ctx: Context, path: str, overwrite: bool, makedirs: bool) -> None:
    if not os.path.isabs(path):
        raise Refused(f"{path!r} is not an absolute path")
    if ctx.host.exists(path) and not overwrite:
        raise Refused(f"{path} exists; set overwrite to True to replace it")
    if makedirs:
        ctx.host.makedirs(os.path.dirname(path))
