"""Files, safely: replaced whole or not at all, and never through a link somebody planted.

A path is first *settled*: every link on the way is followed by hand and judged, and the
result has no link left in it. Writing then walks that path one directory at a time without
following links, so that nobody can put one in between.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable

from msgspec import Struct

READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # non-blocking: a pipe must not make us wait
STEP = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MOST_LINKS = 40  # as the kernel


class PlantedLink(OSError):
    """A link on the way belongs to somebody who must not choose where we write."""

    def __init__(self, link: str, why: str) -> None:
        super().__init__(errno.ELOOP, why, link)


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


KINDS: dict[int, str] = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}


def kind_of(found: os.stat_result) -> str:
    return KINDS.get(stat.S_IFMT(found.st_mode), "unknown thing")


# -- looking -----------------------------------------------------------------------------------


def look(path: str, *, follow: bool = False) -> os.stat_result | None:
    """What is there, or None. A path that leads through a file is not there."""
    try:
        return os.stat(path) if follow else os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def see(path: str, *, follow: bool = True) -> Seen | None:
    """What is there and, if it is a regular file, all it holds."""
    try:
        fd = os.open(path, READ if follow else READ | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        found = look(path) if problem.errno in (errno.ELOOP, errno.ENXIO) else None
        if found is None or (follow and stat.S_ISLNK(found.st_mode)):
            raise
        return Seen(found)  # a link we were told not to follow, or a socket
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return Seen(found)
        return Seen(found, _read(fd, found.st_size))
    finally:
        os.close(fd)


def read(path: str) -> bytes | None:
    """All of a regular file, or None if there is none."""
    seen = see(path)
    if seen is not None and seen.data is None:
        raise OSError(errno.EINVAL, f"not a file, but a {seen.kind}", path)
    return seen.data if seen else None


def _read(fd: int, size: int) -> bytes:
    block = os.read(fd, size + 1)
    if len(block) == size:
        return block
    blocks = []
    while block:  # /proc, or a file that grows
        blocks.append(block)
        block = os.read(fd, 1 << 20)
    return b"".join(blocks)


# -- where a path leads ------------------------------------------------------------------------


def settle(path: str, *, follow: bool = True) -> str:
    """The place a write to ``path`` lands on, without links; what is missing stays as it is.

    Without ``follow`` the last part is taken as it is, link or not. A link that belongs to
    neither us nor root is followed only outside world-writable directories, and only to
    something its owner owns anyway. Raises ``PlantedLink`` for any other.
    """
    todo = list(reversed(path.split("/")))
    at = ""
    links: list[tuple[str, int]] = []
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":
            at = os.path.dirname(at)
            continue
        here = f"{at}/{part}"
        found = look(here)
        if found is None:
            at = os.path.normpath("/".join((here, *reversed(todo))))
            break
        if stat.S_ISLNK(found.st_mode) and (todo or follow):
            _judge(here, found, at or "/")
            links.append((here, found.st_uid))
            if len(links) > MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            target = os.readlink(here)
            todo.extend(reversed(target.split("/")))
            at = "" if target.startswith("/") else at
        else:
            at = here
    _judge_ends(links, at or "/")
    return at or "/"


def _trusted(uid: int) -> bool:
    return uid in (0, os.geteuid())


def _judge(link: str, found: os.stat_result, parent: str) -> None:
    if not _trusted(found.st_uid) and os.lstat(parent).st_mode & stat.S_IWOTH:
        raise PlantedLink(
            link, "a link somebody else put into a directory open to everybody; it is not followed"
        )


def _judge_ends(links: list[tuple[str, int]], end: str) -> None:
    """Somebody's link may lead to what that somebody owns: he could write there himself."""
    doubtful = [(link, uid) for link, uid in links if not _trusted(uid)]
    if not doubtful:
        return
    while (found := look(end)) is None:
        end = os.path.dirname(end)
    for link, uid in doubtful:
        if found.st_uid != uid:
            raise PlantedLink(
                link, f"a link of another user that leads to {end}, which is not his; it is not followed"
            )


def open_directory(path: str) -> int:
    """A handle on a settled directory, reached without following any link."""
    fd = os.open("/", STEP)
    for part in path.split("/"):
        if part:
            fd = _stepped(fd, part)
    return fd


def _stepped(fd: int, part: str) -> int:
    try:
        return os.open(part, STEP, dir_fd=fd)
    finally:
        os.close(fd)


# -- writing -----------------------------------------------------------------------------------


class Attributes(Struct, frozen=True):
    """What a written file gets; None keeps what the old file has, or the usual for a new one."""

    mode: int | None = None
    uid: int | None = None
    gid: int | None = None


KEPT = Attributes()


def usual_mode(full: int = 0o666) -> int:
    """The mode a new file gets under the umask in force."""
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
    """Put ``data`` there in one step: a reader sees the old file or the new one, never a part.

    Mode and owner of an old file are kept. ``check`` is given the finished new file under
    its temporary name (which ends in ``suffix``) before it takes its place; if it raises,
    nothing has changed.
    """
    place = settle(path, follow=follow)
    parent, name = os.path.split(place)
    directory = open_directory(parent)
    temporary = f".{name[:180]}.{os.urandom(6).hex()}{suffix}"
    try:
        old = _old(directory, name)
        _create(directory, temporary, data, _merged(attributes, old), place if old else "")
        try:
            if check is not None:
                check(f"{parent}/{temporary}")
            _swap(directory, temporary, name, data)
        except BaseException:
            _forget(directory, temporary)
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


def _merged(wanted: Attributes, old: os.stat_result | None) -> Attributes:
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
        os.fchmod(fd, attributes.mode or 0)  # last: a new owner clears setuid, an ACL sets group bits
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
    """ACL and SELinux label, where the file system has them. File capabilities end with the content."""
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
        _overwrite(directory, name, data)  # a mount point of its own, as /etc/hosts in a container
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
    """Change mode and owner of what is there already. A link itself has only an owner."""
    place = settle(path, follow=follow)
    fd = os.open(place, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        handle = f"/proc/self/fd/{fd}"  # the thing we opened, whatever is put at its path now
        if attributes.uid is not None or attributes.gid is not None:
            uid = -1 if attributes.uid is None else attributes.uid
            gid = -1 if attributes.gid is None else attributes.gid
            if stat.S_ISLNK(os.fstat(fd).st_mode):
                os.chown(place, uid, gid, follow_symlinks=False)
            else:
                os.chown(handle, uid, gid)
        if attributes.mode is not None and not stat.S_ISLNK(os.fstat(fd).st_mode):
            os.chmod(handle, attributes.mode)
    finally:
        os.close(fd)


def make_directories(path: str, attributes: Attributes = KEPT) -> list[str]:
    """Make the directory and those above it that are missing; the ones made, topmost first."""
    made: list[str] = []
    at = ""
    fd = os.open("/", STEP)
    for part in settle(path).split("/"):
        if not part:
            continue
        at = f"{at}/{part}"
        try:
            try:
                os.mkdir(part, dir_fd=fd)
            except FileExistsError:
                pass
            else:
                made.append(at)
        except OSError as problem:
            os.close(fd)
            raise OSError(problem.errno, problem.strerror, at) from None
        fd = _stepped(fd, part)
    os.close(fd)
    if attributes != KEPT:
        for directory in made:
            set_attributes(directory, attributes)
    return made


def remove(path: str) -> bool:
    """Remove a file, a link (never what it leads to) or a whole directory; False if there is none."""
    found = look(path)
    if found is None:
        return False
    if stat.S_ISDIR(found.st_mode):
        from shutil import rmtree

        rmtree(path)  # works on directory handles, so a link swapped in is not followed
    else:
        os.unlink(path)
    return True
