"""``file.mknod``: pipes and device files."""

from __future__ import annotations

import os
import stat

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import absolute, facts
from saltern.modules.lib.files.owners import attribute_changes, attributes_of
from saltern.modules.lib.files.write import make_parents
from saltern.system import files
from saltern.system.files import Attributes

Mode = str
KINDS: dict[str, tuple[str, int]] = {
    "c": ("character device", stat.S_IFCHR),
    "b": ("block device", stat.S_IFBLK),
    "p": ("pipe", stat.S_IFIFO),
}


@state(name_is="path")
def mknod(
    ctx: Context,
    name: str,
    *,
    ntype: str,
    major: int = 0,
    minor: int = 0,
    user: str | None = None,
    group: str | None = None,
    mode: Mode = "0600",
) -> Result:
    """Create a pipe or a device file.

    Args:
        name: the absolute path; missing parent directories are created.
        ntype: ``p`` for a pipe, ``c`` for a character device, ``b`` for a block device.
        major, minor: the number of the device.
        user, group, mode: owner and mode.

    Example:
        ```yaml
        /run/app.pipe:
          file.mknod:
            - ntype: p
            - user: ada
            - mode: '0660'
        ```
    """
    ctx.facts = {"path": name}
    path = absolute(name)
    if ntype not in KINDS:
        raise Refused(f"no node type is called {ntype!r}; use one of {', '.join(KINDS)}")
    word, bits = KINDS[ntype]
    attributes = attributes_of(user, group, mode)
    found = files.look(path)
    if found is not None:
        _check(path, found, word, ntype, (major, minor))
    changes = attribute_changes(found, attributes, user=user, group=group, mode=mode)
    if found is None:
        changes = {"new": f"{word} {path}"} | changes
    if not changes:
        return result_of(
            ctx, {}, f"{word.capitalize()} {path} is in the correct state", facts(ctx, path, found)
        )
    if not ctx.test:
        _make(path, found is None, bits, os.makedev(major, minor) if ntype != "p" else 0, attributes)
        found = files.look(path)
    would = f"{word.capitalize()} {path} is set to be {'changed' if found else 'created'}"
    return result_of(
        ctx,
        changes,
        Words(would=would, done=f"{word.capitalize()} {path} is now in the correct state"),
        facts(ctx, path, found),
    )


def _check(path: str, found: os.stat_result, word: str, ntype: str, number: tuple[int, int]) -> None:
    if files.kind_of(found) != word:
        raise Refused(f"{path} exists and is a {files.kind_of(found)}, not a {word}")
    have = (os.major(found.st_rdev), os.minor(found.st_rdev))
    if ntype != "p" and have != number:
        raise Refused(f"{path} exists with the number {have[0]}, {have[1]}, not {number[0]}, {number[1]}")


def _make(path: str, new: bool, bits: int, device: int, attributes: Attributes) -> None:
    if new:
        make_parents(path, attributes)
    place = files.settle(path, follow=False)
    if new:
        os.mknod(place, 0o600 | bits, device)
    files.set_attributes(place, attributes, follow=False)
