"""Resolves paths: links are followed and checked here, and not followed again.

A path is *settled* first: the result contains no link. It is then walked one directory at a time without
following links, so that no user can insert one meanwhile.
"""

from __future__ import annotations

import errno
import os
import stat

STEP = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MOST_LINKS = 40  # as the kernel


class PlantedLink(OSError):
    """A link in the path belongs to a user who must not choose where we write."""

    def __init__(self, link: str, why: str) -> None:
        super().__init__(errno.ELOOP, why, link)


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


def look(path: str, *, follow: bool = False) -> os.stat_result | None:
    """The status of a path; None if it does not exist, or if it leads through a file."""
    try:
        return os.stat(path) if follow else os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def settle(path: str, *, follow: bool = True) -> str:
    """The path that a write to ``path`` would reach, without links; missing parts are kept.

    Without ``follow``, a link as the last part is not followed. A link that belongs to neither us nor root is
    followed only outside world-writable directories, and only to something that its owner owns. Raises
    ``PlantedLink`` for any other.
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
            link, "a link that another user put into a directory open to all; it is not followed"
        )


def _judge_ends(links: list[tuple[str, int]], end: str) -> None:
    """Check that a user's link leads to something that this user owns, and could write anyway."""
    doubtful = [(link, uid) for link, uid in links if not _trusted(uid)]
    if not doubtful:
        return
    while (found := look(end)) is None:
        end = os.path.dirname(end)
    for link, uid in doubtful:
        if found.st_uid != uid:
            raise PlantedLink(
                link,
                f"a link of another user that leads to {end}, which that user does not own; it is not"
                " followed",
            )


def open_directory(path: str) -> int:
    """A handle on a settled directory, reached without following any link."""
    fd = os.open("/", STEP)
    for part in path.split("/"):
        if part:
            fd = step_into(fd, part)
    return fd


def step_into(fd: int, part: str) -> int:
    try:
        return os.open(part, STEP, dir_fd=fd)
    finally:
        os.close(fd)


def reach(path: str, *, follow: bool = True) -> tuple[int, str]:
    """A handle on the directory that a write to ``path`` would change, and the path from ``settle``.

    Most paths contain no link, and are opened at once.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if parts and ".." not in parts and path.endswith(parts[-1]):  # "link/" means the target of the link
        parent = "/" + "/".join(parts[:-1])
        directory = open_without_links(parent)
        if directory is not None and not (follow and _is_link(directory, parts[-1])):
            return directory, os.path.join(parent, parts[-1])
        if directory is not None:
            os.close(directory)
    place = settle(path, follow=follow)
    return open_directory(os.path.dirname(place)), place


def open_without_links(path: str) -> int | None:
    """A handle on a directory; None if that fails, or if a link leads to it.

    The kernel knows the path of the opened directory: it is the same only if no link was followed.
    """
    try:
        directory = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if os.readlink(f"/proc/self/fd/{directory}") == path:
            return directory
    except OSError:  # there is no /proc
        pass
    os.close(directory)
    return None


def _is_link(directory: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return False


class Place:
    """``with Place(path) as (directory, name)``: a handle on the settled directory, and the name in it."""

    __slots__ = ("_directory", "_follow", "_path")

    def __init__(self, path: str, *, follow: bool = True) -> None:
        self._path = path
        self._follow = follow

    def __enter__(self) -> tuple[int, str]:
        self._directory, place = reach(self._path, follow=self._follow)
        return self._directory, os.path.basename(place) or "."

    def __exit__(self, *_: object) -> None:
        os.close(self._directory)
