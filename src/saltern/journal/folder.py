"""The directory of journals: created for its owner alone, and used only if that is so."""

from __future__ import annotations

import os
from contextlib import suppress

from saltern.journal.form import SIDES
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system import mark
from saltern.system.atomic import sync_directory
from saltern.system.faults import point
from saltern.system.mark import Mark
from saltern.system.ownership import foreign


def check_owner(base: str, *inside: str) -> None:
    """Raise if root's directory can be written by another user, who could plant a run."""
    for path in (base, *inside):
        if why := foreign(path):
            what = f"the state directory {path} {why}, and root does not use it"
            alone = f"chown -R root {path} and chmod -R go-w {path}"
            fix = f"make it root's alone: {alone}; or name another: state_dir"
            raise OperationError(Diagnostic(code="state-dir", what=what, fix=fix))


def announce(path: str) -> None:
    """Write the mark of a journal, durable, before its file exists."""
    file = mark.create(path)
    try:
        if not os.fstat(file).st_size:
            mark.write(file, Mark())
        os.fsync(file)
    finally:
        os.close(file)
    sync_directory(os.path.dirname(path))


def make_folder(folder: str) -> None:
    """Create a directory and its parents, durable."""
    if os.path.isdir(folder):
        return
    above = os.path.dirname(folder) or "."
    make_folder(above)
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    sync_directory(above)


def remove(path: str) -> None:
    """Remove a journal; its mark first says that nothing is missing, so a kill in between leaves no
    damaged run.
    """
    if os.path.lexists(path + mark.SUFFIX):
        file = mark.create(path)
        mark.write(file, Mark())
        os.close(file)
    for suffix in SIDES:
        point("journal.remove")
        if os.path.lexists(path + suffix):
            os.remove(path + suffix)
