"""``file.symlink`` and ``file.hardlink``."""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace as altered

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import absolute, facts
from saltern.modules.lib.files.names import names_of
from saltern.modules.lib.files.owners import asked_attributes, main_group
from saltern.modules.lib.files.write import beside, make_parents, parent_notes
from saltern.system import files
from saltern.system.files import Attributes

Mode = str


class Link(Struct, frozen=True, kw_only=True):
    """The specification of a link."""

    path: str
    target: str
    word: str  # its kind in comments
    force: bool = False
    backupname: str | None = None
    makedirs: bool = False
    user: str | None = None
    group: str | None = None
    dir_mode: str | None = None
    above: tuple[str | None, str | None] = (
        None,
        None,
    )  # the owner of created directories, if not that of the link


@state(name_is="path")
def symlink(
    ctx: Context,
    /,
    name: str,
    *,
    target: str,
    force: bool = False,
    backupname: str | None = None,
    makedirs: bool = False,
    user: str | None = None,
    group: str | None = None,
    mode: Mode | None = None,
    dir_mode: Mode | None = None,
    owner: str | None = None,
    inherit_user_and_group: bool = False,
    **_: Ignored,
) -> Result:
    """Manage a symbolic link. An existing link is changed in one step.

    Args:
        name: the absolute path of the link.
        target: the path it points to; it need not exist.
        force: replace a file or directory at this path.
        backupname: rename a file or directory at this path to this name instead; a bare name stays in the
            same directory.
        makedirs: create missing parent directories.
        user, group: the owner of the link itself; if not given, the user who runs this, and the group of
            the user.
        inherit_user_and_group: an existing link keeps the owner that is not given.
        owner: an alias of ``user``, as on other systems.
        dir_mode, mode: the mode of created directories; a link has none.

    Example:
        ```yaml
        /srv/app/current:
          file.symlink:
            - target: /srv/app/releases
        ```
    """
    user, group = _owner(ctx, name, user or owner, group, inherit=inherit_user_and_group)
    link = Link(
        path=name,
        target=target,
        word="symlink",
        force=force,
        backupname=backupname,
        makedirs=makedirs,
        user=user,
        group=group,
        dir_mode=dir_mode or mode,
    )
    ctx.facts = {"path": name}
    return _link(ctx, link, _is_symlink, _soft)


@state(name_is="path")
def hardlink(
    ctx: Context,
    /,
    name: str,
    *,
    target: str,
    force: bool = False,
    makedirs: bool = False,
    user: str | None = None,
    group: str | None = None,
    dir_mode: Mode | None = None,
    owner: str | None = None,
    **_: Ignored,
) -> Result:
    """Manage a hard link: another name for the same file.

    Args:
        name: the absolute path of the link.
        target: the absolute path of the file.
        force: replace a file at this path.
        makedirs: create missing parent directories.
        user, group, dir_mode: the owner and mode of created directories. The file keeps its own.
        owner: an alias of ``user``.

    Example:
        ```yaml
        /srv/app/current.txt:
          file.hardlink:
            - target: /srv/app/list.txt
        ```
    """
    ctx.facts = {"path": name}
    if not os.path.isabs(target):
        raise Refused(f"Specified target {target} is not an absolute path")
    found = files.look(target)
    if found is None:
        raise Refused(f"the file {target} to link to does not exist")
    if files.kind_of(found) == "directory":
        raise Refused(f"{target} is a directory, which cannot have a hard link")
    link = Link(
        path=name,
        target=target,
        word="hard link",
        force=force,
        makedirs=makedirs,
        dir_mode=dir_mode,
        above=(user or owner, group),
    )
    return _link(ctx, link, _is_hardlink, _hard)


def _owner(
    ctx: Context, path: str, user: str | None, group: str | None, *, inherit: bool
) -> tuple[str | None, str | None]:
    """The user and group of a link. If none is given and we are not root, it belongs to us anyway."""
    names = names_of(ctx)
    found = files.look(path) if inherit else None
    if found is not None and files.kind_of(found) == "link":
        return user or names.user(found.st_uid), group or names.group(found.st_gid)
    if user is None and os.geteuid() != 0:
        return None, group
    user = user or names.user(0)
    return user, group or main_group(user)


def _soft(target: str, name: str, directory: int) -> None:
    os.symlink(target, name, dir_fd=directory)


def _hard(target: str, name: str, directory: int) -> None:
    os.link(target, name, dst_dir_fd=directory, follow_symlinks=False)


def _is_symlink(found: os.stat_result, link: Link) -> bool:
    return files.kind_of(found) == "link" and os.readlink(link.path) == link.target


def _is_hardlink(found: os.stat_result, link: Link) -> bool:
    other = os.lstat(link.target)
    return (found.st_dev, found.st_ino) == (other.st_dev, other.st_ino)


def _link(
    ctx: Context,
    link: Link,
    right: Callable[[os.stat_result, Link], bool],
    make: Callable[[str, str, int], None],
) -> Result:
    path = os.path.normpath(absolute(link.path))
    link = altered(link, path=path)
    notes: list[str] = []
    attributes = asked_attributes(ctx, link.user, link.group, None, notes)
    found = files.look(path)
    if found is not None and right(found, link):
        return _change_owner(ctx, link, found, attributes)
    changes: dict[str, object] = {"new": path}
    if found is not None and os.path.realpath(os.path.join(os.path.dirname(path), link.target)) == path:
        raise Refused(f"{path} cannot be a {link.word} to itself")
    if found is not None:
        changes |= _in_the_way(link, found)
    notes += parent_notes(ctx, path, link.makedirs)
    if not ctx.test:
        above = asked_attributes(ctx, *link.above, None, notes) if any(link.above) else attributes
        _make(link, found, attributes, above, make)
        found = files.look(path)
    would = "\n".join([f"{link.word.capitalize()} {path} to {link.target} is set for creation", *notes])
    done = f"Created new {link.word} {path} -> {link.target}"
    return result_of(ctx, changes, Words(would=would, done=done), _facts(ctx, link, found))


def _facts(ctx: Context, link: Link, found: os.stat_result | None) -> dict[str, object]:
    return facts(ctx, link.path, found) | {"target": link.target}


def _change_owner(ctx: Context, link: Link, found: os.stat_result, attributes: Attributes) -> Result:
    names = names_of(ctx)
    before = f"{names.user(found.st_uid)}:{names.group(found.st_gid)}"
    after = f"{link.user or names.user(found.st_uid)}:{link.group or names.group(found.st_gid)}"
    right = attributes.uid in (None, found.st_uid) and attributes.gid in (None, found.st_gid)
    if right:
        comment = f"{link.word.capitalize()} {link.path} is present and owned by {before}"
        return result_of(ctx, {}, comment, _facts(ctx, link, found))
    if not ctx.test:
        files.set_attributes(link.path, attributes, follow=False)
        found = os.lstat(link.path)
    would = (
        f"{link.word.capitalize()} {link.path} is present, its owner would change from {before} to {after}"
    )
    done = f"{link.word.capitalize()} {link.path} now belongs to {after}"
    return result_of(ctx, {"ownership": after}, Words(would=would, done=done), _facts(ctx, link, found))


def _in_the_way(link: Link, found: os.stat_result) -> dict[str, object]:
    """The changes to a file or directory at the path of the link. Another link is simply replaced."""
    kind = files.kind_of(found)
    if kind == "link" and link.word == "symlink":
        return {}
    if kind == "directory" and link.word != "symlink":
        raise Refused(f"{link.path} is a directory; a hard link does not replace it, remove it first")
    if link.backupname:
        backup = beside(link.path, link.backupname)
        if files.look(backup) is not None and not link.force:
            raise Refused(
                f"{link.path} is in the way, and its backup {backup} exists already; set force: True"
            )
        return {"backup": backup}
    if not link.force:
        raise Refused(f"{kind.capitalize()} exists where the {link.word} {link.path} should be")
    return {"forced": f"{kind} replaced by the {link.word}"}


def _make(
    link: Link,
    found: os.stat_result | None,
    attributes: Attributes,
    above: Attributes,
    make: Callable[[str, str, int], None],
) -> None:
    if link.makedirs:
        make_parents(link.path, above, dir_mode=link.dir_mode)
    if found is not None and link.backupname and files.kind_of(found) != "link":
        backup = beside(link.path, link.backupname)
        files.remove(backup)
        files.rename(link.path, backup)
    elif found is not None and files.kind_of(found) == "directory":
        files.remove(link.path)
    files.link(link.path, lambda name, directory: make(link.target, name, directory), attributes)
