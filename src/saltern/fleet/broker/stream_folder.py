"""The folder of a broker's streams: one of a cluster cannot use those of a single one, or the reverse."""

from __future__ import annotations

import os
import shutil

from saltern.fleet.identity.keys import OWNER_ONLY
from saltern.system.files import write
from saltern.system.private import make_private

FOLDER = "streams"
MARK = "clustered"  # a file that is there if the streams are those of a cluster


def set_streams_aside(folder: str, *, clustered: bool) -> None:
    """A broker that joins a cluster, or leaves it, begins without streams: it cannot use those that it has,
    and they would take the room of the new ones. Agents have what is in them.
    """
    mark, streams = os.path.join(folder, MARK), os.path.join(folder, FOLDER)
    if os.path.lexists(mark) == clustered:
        return
    old = f"{streams}.before-{'cluster' if clustered else 'single'}"
    shutil.rmtree(old, ignore_errors=True)
    if os.path.lexists(streams):
        os.rename(streams, old)
    if clustered:
        make_private(folder)
        write(mark, b"", OWNER_ONLY)
    else:
        os.unlink(mark)
