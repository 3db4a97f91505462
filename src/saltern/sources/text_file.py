"""The text of a file: limited in size, and UTF-8 except within delayed blocks."""

from __future__ import annotations

import errno
import os
import stat

from saltern.language.diagnostics import CompileError, Diagnostic
from saltern.language.source import Mark

BLOCK = b"delayed_block"
BOM = b"\xef\xbb\xbf"  # which some editors write at the start of a text
_BYTES = "[\udc80-\udcff]"  # the form in which ``surrogateescape`` reads bytes that are not UTF-8


def read_text(path: str, max_size: int) -> str | None:
    """The text of a file; None if there is no such file. Raises ``CompileError`` if it is not text."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        if problem.errno == errno.ENAMETOOLONG:
            return None
        raise _unreadable(path, problem.strerror or str(problem)) from None
    try:
        return _read(fd, path, max_size)
    except IsADirectoryError:
        return None
    finally:
        os.close(fd)


def _read(fd: int, path: str, max_size: int) -> str:
    found = os.fstat(fd)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError
    if not stat.S_ISREG(found.st_mode):
        raise _unreadable(path, "it is not a plain file")
    size = found.st_size
    if size > max_size:
        raise CompileError(
            Diagnostic(
                code="file-too-large",
                what=f"this file has {size:,} bytes; {max_size:,} are allowed",
                where=Mark(path),
                fix="check that it is a state file; the limit is max_sls_size in the configuration",
            )
        )
    blocks: list[bytes] = []
    while block := os.read(fd, max(size, 65536) + 1):
        blocks.append(block)
        if sum(map(len, blocks)) > max_size:
            raise _unreadable(path, "it does not end")
    return _decode(b"".join(blocks), path)


def _decode(data: bytes, path: str) -> str:
    data = data.removeprefix(BOM)
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        if BLOCK in data:  # a delayed block is checked when it is rendered
            return data.decode(errors="surrogateescape")
        raise _not_utf8(data[problem.start], data[: problem.start], path) from None


def check_text(text: str, path: str) -> None:
    """Raise ``CompileError`` for a byte that is not UTF-8; files with delayed blocks are read without that
    check.
    """
    if text.isascii():
        return
    import re

    if found := re.search(_BYTES, text):
        before = text[: found.start()].encode(errors="surrogateescape")
        raise _not_utf8(ord(found[0]) - 0xDC00, before, path)


def _not_utf8(byte: int, before: bytes, path: str) -> CompileError:
    return CompileError(
        Diagnostic(
            code="not-utf8",
            what=f"the byte 0x{byte:02x} is not UTF-8",
            where=Mark(path, before.count(b"\n") + 1, len(before) - before.rfind(b"\n")),
            fix="save the file as UTF-8",
        )
    )


def _unreadable(path: str, why: str) -> CompileError:
    return CompileError(
        Diagnostic(code="file-unreadable", what=f"this file cannot be read: {why}", where=Mark(path))
    )
