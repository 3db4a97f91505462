"""How file states answer: refusals, plain words for what the system refused, and the facts of a file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable

from saltern.language.diagnostics import SalternError
from saltern.language.result import Outcome, Result, failed
from saltern.modules.api.context import Context
from saltern.modules.states.file.names import names_of
from saltern.system.files import PlantedLink, kind_of

MOST_HASHED = 1 << 20  # bytes; the digest is a courtesy, and must not cost more than the state


class Refusal(Exception):
    """The state cannot be brought about; the text is the comment."""


class Later(Refusal):
    """Something is missing that an earlier state may make: a failure now, a remark in test mode."""


REASONS: dict[int, str] = {
    errno.EACCES: "permission denied; run as root, or as a user who may",
    errno.EPERM: "not permitted; run as root, or clear the immutable attribute",
    errno.EROFS: "the file system is read-only",
    errno.ENOSPC: "no space left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "too many links on the way, or a loop of links",
}


def explain(problem: OSError, path: str) -> str:
    """What the system refused, where, and why, without a Python word."""
    why = problem.strerror if isinstance(problem, PlantedLink) else REASONS.get(problem.errno or 0)
    said = why or problem.strerror or str(problem)
    where = problem.filename if isinstance(problem.filename, str) else path
    if not os.path.isabs(where):
        where = path
    return f"{path}: {said}" if where == path else f"{path}: {where}: {said}"


def guarded(path: str, work: Callable[[], Result]) -> Result:
    """The answer of ``work``; a refusal of ours or of the system becomes a failed one."""
    try:
        return work()
    except Refusal as refusal:
        return failed(str(refusal), path=path)
    except SalternError as problem:
        return failed(str(problem), path=path)
    except OSError as problem:
        return failed(explain(problem, path), path=path)
    except UnicodeError as problem:
        return failed(f"{path}: {problem}; give the encoding of the file", path=path)
    except ValueError as problem:  # a NUL byte in a path is one
        return failed(f"{path}: {problem}", path=path)


def absolute(name: str) -> str:
    """The path as it will be used: absolute, with ``~`` expanded. Raises for any other."""
    if not name:
        raise Refusal("the path is empty; give name")
    path = os.path.expanduser(name) if name.startswith("~") else name
    if not path.startswith("/"):
        raise Refusal(f"Specified file {name} is not an absolute path")
    return path


def facts(
    ctx: Context, path: str, found: os.stat_result | None, data: bytes | None = None
) -> dict[str, object]:
    """What is known of a path, changed or not."""
    if found is None:
        return {"path": path, "exists": False}
    names = names_of(ctx)
    known: dict[str, object] = {
        "path": path,
        "exists": True,
        "type": kind_of(found),
        "mode": f"{stat.S_IMODE(found.st_mode):04o}",
        "user": names.user(found.st_uid),
        "group": names.group(found.st_gid),
        "size": found.st_size,
    }
    if data is not None and len(data) <= MOST_HASHED:
        known["sha256"] = digest(data)
    return known


def digest(data: bytes, form: str = "sha256") -> str:
    import hashlib

    return hashlib.new(form, data, usedforsecurity=False).hexdigest()


def changed(
    ctx: Context, changes: dict[str, object], done: str, would: str, data: dict[str, object]
) -> Result:
    """Done, or in test mode: would be done. The changes are the same in both."""
    if ctx.test:
        return Result(outcome=Outcome.WOULD_CHANGE, comment=would, changes=changes, data=data)
    return Result(outcome=Outcome.OK, comment=done, changes=changes, data=data)


def unchanged(comment: str, data: dict[str, object]) -> Result:
    return Result(outcome=Outcome.OK, comment=comment, data=data)
