"""Reads and writes files safely: replaced completely or not at all, never through another user's link."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable

from msgspec import Struct

from saltern.system.leftovers import sweep, temporary_name
from saltern.system.paths import STEP, open_without_links, reach, step_into
from saltern.system.paths import Place as Place
from saltern.system.paths import PlantedLink as PlantedLink
from saltern.system.paths import kind_of as kind_of
from saltern.system.paths import look as look
from saltern.system.paths import open_directory as open_directory
from saltern.system.paths import settle as settle

READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # non-blocking: a pipe must not block us


class Seen(Struct, frozen=True):
    """What is at a path. ``data`` is None for anything but a regular file."""

    stat: os.stat_result
    data: bytes | None = None

    @property
    def mode(self) -> str:
        return f"{stat.S_IMODE(self.stat.st_mode):04o}"

    @property
    def kind(self) -> str:
        return kind_of(self.stat)


def see(path: str, *, follow: bool = True) -> Seen | None:
    """What is at a path, with its content if it is a regular file."""
    try:
        fd = os.open(path, READ if follow else READ | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        found = look(path) if problem.errno in (errno.ELOOP, errno.ENXIO) else None
        if found is None or (follow and stat.S_ISLNK(found.st_mode)):
            raise
        return Seen(found)  # a link that must not be followed, or a socket
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return Seen(found)
        return Seen(found, _read(fd, found.st_size))
    finally:
        os.close(fd)


def read(path: str) -> bytes | None:
    """The content of a regular file; None if there is none."""
    seen = see(path)
    if seen is not None and seen.data is None:
        raise OSError(errno.EINVAL, f"not a file, but a {seen.kind}", path)
    return seen.data if seen else None


def _read(fd: int, size: int) -> bytes:
    block = os.read(fd, size + 1)
    if len(block) == size:
        return block
    blocks = []
    while block:  # files in /proc, or a file that grows
        blocks.append(block)
        block = os.read(fd, 1 << 20)
    return b"".join(blocks)


# -- writing -----------------------------------------------------------------------------------


class Attributes(Struct, frozen=True):
    """Mode and owner of a written file; None keeps those of the old file, or uses the usual ones for a new
    file.
    """

    mode: int | None = None
    uid: int | None = None
    gid: int | None = None


KEPT = Attributes()


def usual_mode(full: int = 0o666) -> int:
    """The mode of a new file under the current umask."""
    mask = os.umask(0o022)
    os.umask(mask)
    return full & ~mask


def write(
    path: str,
    data: bytes,
    attributes: Attributes = KEPT,
    *,
    follow: bool = True,
    suffix: str = "",
    check: Callable[[str], None] | None = None,
) -> None:
    """Write ``data`` atomically: a reader sees the old file or the new one, never a part.

    Mode and owner of an old file are kept. ``check`` is called with the temporary name of the complete new
    file (which ends in ``suffix``) before it replaces the old one; if it raises, nothing has changed.
    """
    directory, place = reach(path, follow=follow)
    parent, name = os.path.split(place)
    temporary = temporary_name(name, suffix)
    try:
        sweep(directory)
        old = _old(directory, name)
        _create(directory, temporary, data, _merge_attributes(attributes, old), place if old else "")
        try:
            if check is not None:
                check(f"{parent}/{temporary}")
            _swap(directory, temporary, name, data)
        except BaseException:
            _forget(directory, temporary)
            raise
    except OSError as problem:
        if problem.filename == temporary:  # the user does not know this name
            problem.filename = path
        raise
    finally:
        os.close(directory)


def _old(directory: int, name: str) -> os.stat_result | None:
    try:
        old = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    return old if stat.S_ISREG(old.st_mode) else None


def _merge_attributes(wanted: Attributes, old: os.stat_result | None) -> Attributes:
    if old is None:
        return Attributes(usual_mode() if wanted.mode is None else wanted.mode, wanted.uid, wanted.gid)
    return Attributes(
        stat.S_IMODE(old.st_mode) if wanted.mode is None else wanted.mode,
        old.st_uid if wanted.uid is None else wanted.uid,
        old.st_gid if wanted.gid is None else wanted.gid,
    )


def _create(directory: int, name: str, data: bytes, attributes: Attributes, labels: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(name, flags, 0o600, dir_fd=directory)
    try:
        _write_all(fd, data)
        made = os.fstat(fd)
        uid = made.st_uid if attributes.uid is None else attributes.uid
        gid = made.st_gid if attributes.gid is None else attributes.gid
        if (uid, gid) != (made.st_uid, made.st_gid):
            os.fchown(fd, uid, gid)
        if labels:
            _keep_labels(labels, fd)
        # Last: changing the owner clears setuid, and an ACL sets group bits.
        os.fchmod(fd, attributes.mode or 0)
    except BaseException:
        _forget(directory, name)
        raise
    finally:
        os.close(fd)


def _write_all(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]


LABELS = ("system.posix_acl_access", "security.selinux")


def _keep_labels(old: str, new: int) -> None:
    """Keep the ACL and the SELinux label, if the file system has them. File capabilities are lost with the
    old content.
    """
    try:
        for label in os.listxattr(old, follow_symlinks=False):
            if label in LABELS:
                os.setxattr(new, label, os.getxattr(old, label, follow_symlinks=False))
    except OSError:
        pass


def _swap(directory: int, temporary: str, name: str, data: bytes) -> None:
    try:
        os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError as problem:
        if problem.errno != errno.EBUSY:
            raise
        _overwrite(directory, name, data)  # a mount point, such as /etc/hosts in a container
        _forget(directory, temporary)


def _overwrite(directory: int, name: str, data: bytes) -> None:
    fd = os.open(name, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        _write_all(fd, data)
    finally:
        os.close(fd)


def _forget(directory: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        pass


# -- modes, owners, directories, removal -------------------------------------------------------


def set_attributes(path: str, attributes: Attributes, *, follow: bool = True) -> None:
    """Change mode and owner of an existing file. A link itself has only an owner."""
    with Place(path, follow=follow) as (directory, name):
        if attributes.uid is not None or attributes.gid is not None:
            uid = -1 if attributes.uid is None else attributes.uid
            gid = -1 if attributes.gid is None else attributes.gid
            os.chown(name, uid, gid, dir_fd=directory, follow_symlinks=False)
        if attributes.mode is not None:
            _set_mode(directory, name, attributes.mode)


def _set_mode(directory: int, name: str, mode: int) -> None:
    """Change the mode through a handle: by name, Linux might follow a link."""
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        if not stat.S_ISLNK(os.fstat(fd).st_mode):
            os.chmod(f"/proc/self/fd/{fd}", mode)
    finally:
        os.close(fd)


def rename(source: str, target: str) -> None:
    """Move within one file system; a file or link at ``target`` is replaced."""
    with (
        Place(source, follow=False) as (from_directory, old),
        Place(target, follow=False) as (to_directory, new),
    ):
        os.rename(old, new, src_dir_fd=from_directory, dst_dir_fd=to_directory)


def link(path: str, make: Callable[[str, int], None], attributes: Attributes = KEPT) -> None:
    """Create a link atomically, replacing a file or link. ``make`` gets its name and directory."""
    with Place(path, follow=False) as (directory, name):
        sweep(directory)
        if attributes == KEPT and _is_made(name, directory, make):
            return
        temporary = temporary_name(name)
        try:
            make(temporary, directory)
        except OSError as problem:
            problem.filename, problem.filename2 = path, None  # the user does not know the temporary name
            raise
        try:
            if attributes != KEPT:
                uid = -1 if attributes.uid is None else attributes.uid
                gid = -1 if attributes.gid is None else attributes.gid
                os.chown(temporary, uid, gid, dir_fd=directory, follow_symlinks=False)
            os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        finally:
            _forget(directory, temporary)  # renaming over another name of the same file does nothing


def _is_made(name: str, directory: int, make: Callable[[str, int], None]) -> bool:
    """Create the link directly if its name is free; true on success."""
    try:
        make(name, directory)
    except FileExistsError:
        return False
    return True


def make_directories(path: str, attributes: Attributes = KEPT) -> list[str]:
    """Make the directory and its missing parents. Returns the new directories, topmost first."""
    made: list[str] = []
    if (directory := open_without_links(path)) is not None:
        os.close(directory)
        return made
    place = settle(path)
    if (found := look(place)) is not None and stat.S_ISDIR(found.st_mode):
        return made
    at = ""
    fd = os.open("/", STEP)
    for part in place.split("/"):
        if not part:
            continue
        at = f"{at}/{part}"
        if made or not _is_there(fd, part):
            try:
                if new_directory(fd, part, attributes):
                    made.append(at)
            except OSError as problem:
                os.close(fd)
                raise OSError(problem.errno, problem.strerror, at) from None
        fd = step_into(fd, part)
    os.close(fd)
    return made


def _is_there(directory: int, name: str) -> bool:
    return os.access(name, os.F_OK, dir_fd=directory, follow_symlinks=False)


def new_directory(parent: int, name: str, wanted: Attributes) -> bool:
    """Make a directory with restricted mode, then set owner and mode; False if it exists."""
    mode = usual_mode(0o777) if wanted.mode is None else wanted.mode
    plain = wanted == KEPT
    try:
        os.mkdir(name, 0o777 if plain else mode & 0o700, dir_fd=parent)
    except FileExistsError:
        return False
    if plain:
        return True
    fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        settle_new(fd, wanted, mode)
    finally:
        os.close(fd)
    return True


def settle_new(fd: int, wanted: Attributes, usual: int) -> None:
    """Set the owner of a new directory, which clears setuid, then its mode."""
    if wanted.uid is not None or wanted.gid is not None:
        os.fchown(fd, -1 if wanted.uid is None else wanted.uid, -1 if wanted.gid is None else wanted.gid)
    os.fchmod(fd, usual if wanted.mode is None else wanted.mode)


def remove(path: str, *, tree: bool = True) -> bool:
    """Remove a file, a link (never what it leads to) or a directory; False if there is none.

    Without ``tree`` a directory must be empty.
    """
    if look(path) is None:
        return False
    with Place(path, follow=False) as (directory, name):
        if not stat.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=directory)
        elif tree:
            from shutil import rmtree

            # It works on handles, so a link that is put in place meanwhile is not followed.
            rmtree(name, dir_fd=directory)
        else:
            os.rmdir(name, dir_fd=directory)
    return True
