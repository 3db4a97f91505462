"""``salt.utils.files``."""

# ruff: noqa: F401 - exported under Salt's names

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from saltern.render.filters.files import is_bin_file as is_binary
from saltern.render.filters.files import is_empty, list_files
from saltern.render.filters.files import is_text_file as is_text

ARCHIVES = {
    "tar": ("tar", "tar.gz", "tgz", "tar.bz2", "tbz2", "tbz", "tar.xz", "txz", "tar.lzma", "tlz"),
    "zip": ("zip",),
    "rar": ("rar",),
}


def fopen(path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
    """Open a file; text is UTF-8 in any locale."""
    if "b" not in mode and not args:
        kwargs.setdefault("encoding", "utf-8")
    return open(path, mode, *args, **kwargs)


@contextmanager
def flopen(path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Iterator[Any]:
    import fcntl

    with fopen(path, mode, *args, **kwargs) as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_SH)
        try:
            yield file
        finally:
            fcntl.flock(file.fileno(), fcntl.LOCK_UN)


@contextmanager
def fpopen(
    path: Any, *args: Any, uid: int = -1, gid: int = -1, mode: int | None = None, **kwargs: Any
) -> Iterator[Any]:
    with fopen(path, *args, **kwargs) as file:
        os.chown(path, uid, gid)
        if mode is not None:
            os.chmod(path, mode)
        yield file


def mkstemp(*args: Any, close_fd: bool = True, **kwargs: Any) -> Any:
    """Create a file. Returns its path, and with ``close_fd=False`` also its descriptor."""
    import tempfile

    kwargs.setdefault("prefix", "__salt.tmp.")
    fd, path = tempfile.mkstemp(*args, **kwargs)
    if not close_fd:
        return fd, path
    os.close(fd)
    return path


def rename(src: str, dst: str) -> None:
    os.replace(src, dst)


def remove(path: str) -> None:
    safe_rm(path)


def safe_rm(tgt: str) -> None:
    try:
        os.remove(tgt)
    except OSError:
        pass


def rm_rf(path: str) -> None:
    import shutil

    if os.path.islink(path) or not os.path.isdir(path):
        os.remove(path)
    else:
        shutil.rmtree(path)


def copyfile(source: str, dest: str, backup_mode: str = "", cachedir: str = "") -> None:  # noqa: ARG001
    """Replace a file atomically; its owner and mode are kept."""
    import shutil

    if not os.path.isfile(source):
        raise OSError(f"[Errno 2] No such file or directory: {source}")
    before = os.stat(dest) if os.path.exists(dest) else None
    made = mkstemp(prefix=os.path.basename(dest), dir=os.path.dirname(dest) or ".")
    shutil.copyfile(source, made)
    if before is not None:
        os.chown(made, before.st_uid, before.st_gid)
        os.chmod(made, before.st_mode & 0o7777)
    else:
        os.chmod(made, 0o666 & ~get_umask())
    os.replace(made, dest)


def recursive_copy(source: str, dest: str) -> None:
    import shutil

    shutil.copytree(source, dest, dirs_exist_ok=True)


def safe_walk(
    top: str, topdown: bool = True, onerror: Any = None, followlinks: bool = True
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Like ``os.walk``, but visits no directory twice, so that loops of links end."""
    seen: set[tuple[int, int]] = set()
    for place, directories, names in os.walk(top, topdown, onerror, followlinks):
        found = os.stat(place)
        if (found.st_dev, found.st_ino) in seen:
            directories.clear()
            continue
        seen.add((found.st_dev, found.st_ino))
        yield place, directories, names


def get_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def set_umask(mask: int | None) -> Iterator[None]:
    if mask is None:
        yield
        return
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def st_mode_to_octal(mode: int) -> str:
    return oct(mode & 0o7777)[2:].zfill(4) if isinstance(mode, int) else ""


def normalize_mode(mode: Any) -> str | None:
    if mode is None:
        return None
    text = str(mode).replace("0o", "0").strip('"').strip("'").lstrip("0")
    return text.zfill(4)


def guess_archive_type(name: str) -> str | None:
    lowered = name.lower()
    kinds = (kind for kind, ends in ARCHIVES.items() if lowered.endswith(tuple(f".{end}" for end in ends)))
    return next(kinds, None)


def is_fcntl_available(check_sunos: bool = False) -> bool:  # noqa: ARG001
    return True


def human_size_to_bytes(human_size: str) -> int:
    from saltern.render.filters.convert import human_to_bytes

    return human_to_bytes(human_size)


def safe_filename_leaf(file_basename: str) -> str:
    return file_basename.replace("/", "%2F")
