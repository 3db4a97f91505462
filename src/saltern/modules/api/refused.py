"""``Refused``, the exception that modules raise for the user, and checks of values that raise it."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from saltern.modules.api.params import BadArgument


class Refused(BadArgument):
    """The state or function cannot do its work; the text says why, and is for the user.

    ``later``: something is missing that an earlier state may create, so it is only a note in test mode (if
    the state has set ``ctx.foreseen``). ``data`` are facts in addition to ``ctx.facts``; ``changes`` and
    ``warnings`` are those before the failure. The caller turns it into a result.
    """

    def __init__(
        self,
        text: str,
        *,
        later: bool = False,
        data: Mapping[str, object] | None = None,
        changes: Mapping[str, object] | None = None,
        warnings: tuple[str, ...] = (),
    ) -> None:
        super().__init__(text)
        self.later = later
        self.data = dict(data or {})
        self.changes = dict(changes or {})
        self.warnings = warnings


REASONS: Mapping[int, str] = {
    errno.EACCES: "permission denied; run as root, or as a user who may",
    errno.EPERM: "not permitted; run as root, or clear the immutable attribute",
    errno.EROFS: "the file system is read-only",
    errno.ENOSPC: "no space left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "too many links in the path, or a loop of links",
}


def explain(problem: OSError, path: str = "") -> str:
    """A system error as text; with ``path``, the file that the user has named, also what to do."""
    from saltern.system.files import PlantedLink

    problem = _planted_link(path) or problem if problem.errno == errno.EACCES and path else problem
    said = problem.strerror or str(problem)
    if not path:
        return _of_any_file(problem, said)
    if not isinstance(problem, PlantedLink):
        said = REASONS.get(problem.errno or 0, said)
    where = problem.filename
    if not isinstance(where, str) or not os.path.isabs(where) or where == path:
        return f"{path}: {said}"
    return f"{path}: {where}: {said}"


def _of_any_file(problem: OSError, said: str) -> str:
    """The error with its file: the one that was to be created, which is the second one for a link."""
    if problem.errno == errno.EACCES and os.geteuid() != 0:
        said = REASONS[errno.EACCES]
    where = problem.filename2 or problem.filename
    return f"{where}: {said}" if where else said


def _planted_link(path: str) -> OSError | None:
    """The link in the path that the kernel refused to follow, even for root (``fs.protected_symlinks``)."""
    from saltern.system.paths import PlantedLink, settle

    try:
        settle(path)
    except PlantedLink as found:
        return found
    except OSError:
        pass
    return None


def check_known(value: object, allowed: Mapping[str, object] | tuple[str, ...], what: str) -> None:
    """Raises ``Refused`` unless ``value`` is one of ``allowed``."""
    if value not in allowed:
        raise Refused(f"{what} cannot be {value!r}; it must be one of {', '.join(allowed)}")


# All characters that Python reads as a line end; and NUL, the end of a text in C.
BREAKS = "\n\r\0\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def one_line(value: str, what: str, *, without: str = "") -> str:
    """The value, for a file made of lines. Raises ``Refused`` if it would break out of its line."""
    bad = next((sign for sign in (*BREAKS, *without) if sign in value), None)
    if bad is not None:
        raise Refused(f"{what} must not contain {bad!r}: {value!r}")
    return value
