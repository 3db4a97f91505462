"""Write a file with its mode and owner, if anything differs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.programs import owner_for
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.diffs import NEW_FILE, difference
from saltern.modules.lib.files.facts import facts
from saltern.modules.lib.files.owners import asked_attributes, attribute_changes
from saltern.system import files
from saltern.system.files import Attributes, Seen
from saltern.system.temporary import private_file


class Wanted(Struct, frozen=True, kw_only=True):
    """The specification of a file, without its content."""

    path: str
    user: str | None = None
    group: str | None = None
    mode: str | None = None
    makedirs: bool = False
    dir_mode: str | None = None
    backup: str = ""
    show_changes: bool = True
    new_file_diff: bool = False
    follow: bool = True
    check_cmd: str = ""
    tmp_dir: str = ""
    tmp_ext: str = ""

    @property
    def names(self) -> dict[str, object]:
        """The variables about the file for the template of a source."""
        return {
            "name": self.path,
            "user": self.user,
            "group": self.group,
            "mode": self.mode,
            "attrs": None,
        }


Same = Callable[[bytes, bytes], bool]


def place(ctx: Context, wanted: Wanted, content: bytes | None, same: Same | None = None) -> Result:
    """Write the file. ``content`` None keeps the existing content (a new file is empty)."""
    if ctx.settings.diff_new_files:
        wanted = replace(wanted, new_file_diff=True)
    path = wanted.path
    seen = files.see(path, follow=wanted.follow)
    _check_kind(path, seen, wanted.follow)
    if seen is not None and seen.kind == "link" and content is None:
        wanted = replace(wanted, mode=None)  # a link that stays has none
    notes: list[str] = []
    attributes = asked_attributes(ctx, wanted.user, wanted.group, wanted.mode, notes)
    changes = _content_changes(wanted, seen, content, same)
    rewrite = bool(changes)
    changes |= attribute_changes(
        seen.stat if seen else None, attributes, user=wanted.user, group=wanted.group, mode=wanted.mode
    )
    if not changes:
        assert seen is not None
        return result_of(
            ctx, {}, f"File {path} is in the correct state", facts(ctx, path, seen.stat, seen.data)
        )
    notes += parent_notes(ctx, path, wanted.makedirs)
    if ctx.test or seen is not None:
        files.settle(path, follow=wanted.follow)  # refuse a planted link before anything is done
    if not ctx.test:
        data = b"" if content is None else content
        _act(ctx, wanted, seen, data if rewrite else None, attributes)
        seen = Seen(os.stat(path), data if rewrite else seen.data if seen else None)
    known = facts(ctx, path, seen.stat if seen else None, seen.data if seen else None)
    would = "\n".join([f"File {path} would be changed", *notes])
    done = "Empty file" if "new" in changes else f"File {path} updated"
    return result_of(ctx, changes, Words(would=would, done=done), known)


def _check_kind(path: str, seen: Seen | None, follow: bool) -> None:
    if seen is None or seen.data is not None or (seen.kind == "link" and not follow):
        return
    if seen.kind == "directory":
        raise Refused(f"Specified target {path} is a directory")
    raise Refused(f"Specified target {path} is not a file, but a {seen.kind}")


def _content_changes(
    wanted: Wanted, seen: Seen | None, content: bytes | None, same: Same | None
) -> dict[str, object]:
    if seen is None and content is None:
        return {"new": f"file {wanted.path} created"}
    if seen is None:
        show = wanted.new_file_diff and content
        return {"diff": difference(b"", content or b"", show=wanted.show_changes) if show else NEW_FILE}
    if content is None:
        return {}
    if seen.data is None:
        return {"diff": "Replace link with file"}
    if content == seen.data or (same is not None and same(seen.data, content)):
        return {}
    return {"diff": difference(seen.data, content, show=wanted.show_changes)}


def _act(
    ctx: Context, wanted: Wanted, seen: Seen | None, content: bytes | None, attributes: Attributes
) -> None:
    path = wanted.path
    check = _checker(ctx, wanted, content) if wanted.check_cmd and content is not None else None
    if wanted.makedirs and not os.path.isdir(os.path.dirname(path)):
        if check is not None:  # before anything is made
            _check_apart(ctx, wanted, content or b"")
            check = None
        make_parents(path, attributes, mode=wanted.mode, dir_mode=wanted.dir_mode)
    if content is None:
        files.set_attributes(path, attributes, follow=wanted.follow)
        return
    if seen is not None and seen.data is not None:
        back_up(ctx, path, seen, wanted.backup or ctx.settings.backup_mode)
    files.write(path, content, attributes, follow=wanted.follow, suffix=wanted.tmp_ext, check=check)


def parent_notes(ctx: Context, path: str, makedirs: bool) -> list[str]:
    """Notes on the parent directory of ``path``. Raises if it is missing and will not be created."""
    parent = os.path.dirname(path)
    found = files.look(parent, follow=True)
    if found is not None and files.kind_of(found) == "directory":
        return []
    if found is not None:
        raise Refused(f"Parent {parent} is not a directory, but a {files.kind_of(found)}")
    if makedirs:
        return [f"Directory {parent} will be created"]
    missing = f"Parent directory {parent} not present; create it first, or set makedirs: True"
    if not ctx.test:
        raise Refused(missing, later=True)
    return [missing]


def beside(path: str, name: str) -> str:
    """The path of a backup: a bare name is in the directory of ``path``."""
    return name if os.path.isabs(name) else os.path.join(os.path.dirname(path), name)


def make_parents(
    path: str, attributes: Attributes, *, mode: str | None = None, dir_mode: str | None = None
) -> list[str]:
    """Create the parents of ``path``; without ``dir_mode``, those who may read the file may enter them."""
    bits = int(dir_mode, 8) if dir_mode else None
    if bits is None and mode:
        readable = int(mode, 8)
        bits = (readable & 0o777) | (readable & 0o444) >> 2
    return files.make_directories(
        os.path.dirname(path), Attributes(mode=bits, uid=attributes.uid, gid=attributes.gid)
    )


NO_BACKUP = frozenset({"", "false"})
BACKUP_WORDS = frozenset({"minion", "master", "both", "true"})


def back_up(ctx: Context, path: str, seen: Seen, backup: str) -> None:
    """Back up the old file: in the cache for Salt's keywords, beside it for a suffix such as ``.bak``."""
    if backup.lower() in NO_BACKUP or seen.data is None:
        return
    kept = _kept_at(ctx, path) if backup.lower() in BACKUP_WORDS else path + backup
    if backup.lower() in BACKUP_WORDS:
        files.make_directories(os.path.dirname(kept), Attributes(mode=0o700))
    old = seen.stat
    files.write(kept, seen.data, Attributes(old.st_mode & 0o7777, old.st_uid, old.st_gid), follow=False)


def _kept_at(ctx: Context, path: str) -> str:
    from saltern.config.settings import cache_directory

    now = ctx.clock.now()
    stamp = time.strftime("%Y-%m-%d_%H-%M-%S", time.localtime(now))
    return f"{cache_directory(ctx.settings)}/file_backup{path}_{stamp}_{int(now % 1 * 1e6):06d}"


def _checker(ctx: Context, wanted: Wanted, content: bytes) -> Callable[[str], None]:
    def check(temporary: str) -> None:
        if not wanted.tmp_dir:
            run_check(ctx, wanted.check_cmd, temporary)
            return
        _check_apart(ctx, wanted, content)

    return check


def _check_apart(ctx: Context, wanted: Wanted, content: bytes) -> None:
    owner = owner_for(ctx, None)
    with private_file("check", content, where=wanted.tmp_dir, suffix=wanted.tmp_ext, owner=owner) as copy:
        run_check(ctx, wanted.check_cmd, copy)


def run_check(ctx: Context, command: str, path: str) -> None:
    """Run the user's command with the path as its last argument; raise if it fails."""
    argv = ["/bin/sh", "-c", f'{command} "$1"', "check_cmd", path]
    ran = ctx.host.run(argv, user=ctx.runas, merge_err=True)
    if ran.code:
        said = f"\n{ran.out.strip()}" if ran.out.strip() else ""
        raise Refused(f"check_cmd execution failed{said}")
