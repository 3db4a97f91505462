"""The folder of a broker's streams: a broker of a cluster cannot use those of a single broker, or the
reverse.
"""

from __future__ import annotations

import os
import shutil

from saltern.fleet.identity.keys import OWNER_ONLY
from saltern.system.files import write
from saltern.system.private import make_private

FOLDER = "streams"
MARK = "clustered"  # this file exists if the streams belong to a cluster


def set_streams_aside(folder: str, *, clustered: bool) -> None:
    """Move the old streams away when a broker joins or leaves a cluster: it cannot use them, and they would
    take the space of the new ones. Agents still have what was in them.
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
