"""Filters that inspect files, programs and users of this machine."""

from __future__ import annotations

import os


def is_empty(filename: str) -> bool:
    """True if the file exists and is empty."""
    try:
        return os.stat(filename).st_size == 0
    except OSError:
        return False


def is_text_file(fp_: str, blocksize: int = 512) -> bool:
    """True if the start of the file is text; False if it cannot be read."""
    block = _start(fp_, blocksize)
    return block is not None and _is_text(block)


def is_bin_file(path: str) -> bool:
    """True if the start of the file is not text; False if it cannot be read."""
    block = _start(path, 512)
    return block is not None and not _is_text(block)


def _start(path: str, size: int) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except OSError:
        return None


_CONTROLS = frozenset(range(32)) - frozenset(b"\n\r\t\f\b\x1b")


def _is_text(block: bytes) -> bool:
    """True if there is no zero byte, and it is UTF-8 (perhaps cut in a character), or has few control
    characters.
    """
    import codecs

    if b"\0" in block:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(block)
    except UnicodeDecodeError:
        odd = sum(byte in _CONTROLS or byte > 126 for byte in block)
        return odd * 10 <= len(block) * 3
    return True


def list_files(directory: str) -> list[str]:
    """The directory and everything below it, sorted; links are not followed."""
    found = {directory}
    for folder, folders, files in os.walk(directory):
        found.update(os.path.join(folder, name) for name in (*folders, *files))
    return sorted(found)


def path_join(*parts: str) -> str:
    """A path from its parts; only a slash at the start of the first part counts."""
    for part in parts:
        if not isinstance(part, str):
            raise TypeError(f"a part of a path must be text, not {type(part).__name__}")
    first, *others = parts
    return os.path.normpath(os.path.join(first, *(part.lstrip("/") for part in others)))


def which(exe: str | None = None) -> str | None:
    """The path of the program, or None."""
    import shutil

    return shutil.which(exe) if exe else None


def get_uid(user: object = None) -> int | None:
    """The number of a user of this machine, None if there is no such user (default: our own)."""
    import pwd

    if user is None:
        return os.geteuid()
    try:
        return pwd.getpwnam(str(user)).pw_uid
    except KeyError:
        return None
