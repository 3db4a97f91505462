"""The file of one journal while it is written, and its mark: how far it is written and synced.

After its first line, the file is a sequence of frames, each with all records that were written
together: all of them are there, or none. Why it is not a database: docs/decisions/0035-journal-log.md.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from saltern.journal.folder import make_folder
from saltern.journal.form import LOG, SIDES, encode_frame, frames, is_log
from saltern.system import mark, reboot
from saltern.system.atomic import sync_directory
from saltern.system.faults import point
from saltern.system.mark import Mark
from saltern.system.regular import NotRegular, is_other, open_regular

Row = tuple[int, str, bytes]  # number, kind, data


class RecordFile:
    """Opened, and created if needed, when the first record is written."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = self._mark = -1
        self._end = 0  # the offset of the next frame
        self._marked = Mark()

    @property
    def is_open(self) -> bool:
        return self._file >= 0

    def write(self, waiting: Sequence[Row], *, durable: bool) -> int:
        """Append records as one frame, and return how many; ``durable``: they survive a power loss.

        Raises ``OSError``; it is then unknown which of them are on disk. After an interrupt, a second call
        with the same records, and more, replaces the first.
        """
        if self._file < 0:
            self._open(waiting[0][0])
        known = self._marked
        rows = [row for row in waiting if row[0] >= known.written]
        if rows:
            frame, chain = encode_frame(rows, known.chain)
            point("journal.commit")
            _write_at(self._file, frame, self._end)
            if durable:
                os.fdatasync(self._file)
            point("journal.synced" if durable else "journal.saved")
            self._end += len(frame)
            written = known.written + len(rows)
            self._put_mark(Mark(written, written if durable else known.synced, chain, known.boot))
        return len(waiting)

    def _put_mark(self, known: Mark) -> None:
        """Write the mark. A mark that cannot be written counts too few records, like one after a power
        loss.
        """
        self._marked = known
        with suppress(OSError):
            mark.write(self._mark, known)

    def mark_over(self) -> None:
        """Mark that no record follows."""
        self._put_mark(replace(self._marked, over=True))

    def close(self) -> None:
        point("journal.close")
        for file in (self._mark, self._file):
            if file >= 0:
                os.close(file)
        self._mark = self._file = -1
        point("journal.closed")

    def _open(self, first: int) -> None:
        for suffix in SIDES:
            if is_other(self.path + suffix):
                raise NotRegular(self.path + suffix)
        new = not os.path.lexists(self.path)
        if new:
            make_folder(os.path.dirname(self.path))
        self._open_mark()
        if new:
            point("journal.create")
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            point("journal.created")
        else:
            if not is_log(self.path):
                from saltern.journal.old_form import convert

                convert(self.path)
            self._file = open_regular(self.path, os.O_RDWR)
        self._continue(first)
        if new:
            sync_directory(os.path.dirname(self.path))

    def _open_mark(self) -> None:
        """Open the mark, created before the file and synced with its directory: a file without a mark has
        lost it.
        """
        self._mark = mark.create(self.path)
        self._marked = Mark(boot=reboot.current().identity())
        if not os.fstat(self._mark).st_size:
            mark.write(self._mark, self._marked)

    def _continue(self, first: int) -> None:
        """Continue after the existing records; cut off an incomplete frame of an earlier process."""
        _write_at(self._file, LOG, 0)
        self._end, chain = len(LOG), 0
        if first:
            data = os.pread(self._file, os.fstat(self._file).st_size, 0)
            for frame in frames(data):
                if frame.first >= first:
                    break
                self._end, chain = frame.end, frame.chain
        os.ftruncate(self._file, self._end)
        self._marked = Mark(first, 0, chain, self._marked.boot)


def _write_at(file: int, data: bytes, at: int) -> None:
    """Write all data at this offset of the file."""
    rest = memoryview(data)
    while rest:
        done = os.pwrite(file, rest, at)
        rest, at = rest[done:], at + done
