"""Write a key or a certificate with its owner and mode, and never show its content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypedDict

from msgspec import Struct

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import absolute
from saltern.modules.lib.files.write import Wanted, place
from saltern.system import files

FILE_WORDS = (
    "user",
    "group",
    "mode",
    "makedirs",
    "dir_mode",
    "backup",
    "create",
    "follow_symlinks",
    "check_cmd",
    "tmp_dir",
    "tmp_ext",
)
FORM_ONLY = frozenset(  # changes of a file that holds the same key, certificate or request as before
    {"additional_certs", "encoding", "passphrase", "pkcs12_friendlyname", "pkcs12_passphrase"}
)
ATTRIBUTES = ("user", "group", "mode")  # the reported changes of the file; its content is not shown
# Arguments of file.managed that Salt passes on, and that have no effect here.
MEANINGLESS = frozenset(
    {
        "attrs",
        "encoding_errors",
        "file_encoding",
        "selinux",
        "show_changes",
        "win_deny_perms",
        "win_inheritance",
        "win_owner",
        "win_perms",
        "win_perms_reset",
    }
)


class FileArguments(TypedDict, total=False):
    """Arguments of every state of this module that writes a file.

    Args:
        user: the owner.
        group: the group.
        mode: the mode, octal.
        makedirs: create missing parent directories.
        dir_mode: the mode of created directories.
        backup: ``minion`` keeps a copy of the old file.
        create: False does nothing if the file does not exist.
        follow_symlinks: False replaces a link itself, not its target.
        tmp_dir: the directory of the temporary file.
        tmp_ext: the suffix of the temporary file.
    """

    user: object
    group: object
    mode: object
    makedirs: object
    dir_mode: object
    backup: object
    create: object
    follow_symlinks: object
    tmp_dir: object
    tmp_ext: object


class FileAndNames(FileArguments, total=False):
    """The same, for states that also take parts of a name, and extensions."""

    _: object


FileAndNames.__doc__ = FileArguments.__doc__  # which has the ``Args:`` of its keys


class Spot(Struct, frozen=True, kw_only=True):
    """The file to write. ``rest`` has the keywords that are not about the file."""

    file: Wanted
    create: bool
    rest: dict[str, object]

    @property
    def path(self) -> str:
        return self.file.path

    def read(self) -> bytes | None:
        """The current content; empty for a link that will be replaced."""
        seen = files.see(self.path, follow=self.file.follow)
        if seen is None or (seen.data is None and seen.kind == "link"):
            return None
        if seen.data is None:
            raise Refused(f"{self.path} is not a file, but a {seen.kind}")
        return seen.data

    @property
    def replaces_link(self) -> bool:
        found = files.look(self.path)
        return not self.file.follow and found is not None and files.kind_of(found) == "link"


def spot(name: str, kwargs: Mapping[str, object], mode: str | None = None) -> Spot:
    """The file arguments of a state; a mode is octal, quoted or not."""
    given = {key: value for key, value in kwargs.items() if value is not None}

    def text(word: str) -> str:
        return str(given.get(word) or "")

    file = Wanted(
        path=absolute(name),
        user=text("user") or None,
        group=text("group") or None,
        mode=_mode(given.get("mode")) or mode,
        makedirs=bool(given.get("makedirs")),
        dir_mode=_mode(given.get("dir_mode")),
        backup="minion" if given.get("backup") is True else text("backup"),
        show_changes=False,
        follow=bool(given.get("follow_symlinks", True)),
        check_cmd=text("check_cmd"),
        tmp_dir=text("tmp_dir"),
        tmp_ext=text("tmp_ext"),
    )
    rest = {key: value for key, value in given.items() if key not in (*FILE_WORDS, *MEANINGLESS)}
    return Spot(file=file, create=given.get("create") is not False, rest=rest)


def _mode(value: object) -> str | None:
    if value is None or value == "":
        return None
    text = str(value).removeprefix("0o")
    if not text or not all(digit in "01234567" for digit in text) or len(text) > 5:
        raise Refused(f"mode needs an octal number such as 0600, got {value!r}")
    return text.lstrip("0").zfill(4)


def write_if_different(
    ctx: Context,
    where: Spot,
    differs: dict[str, object],
    make: Callable[[], bytes],
    facts: Callable[[bytes | None], dict[str, object]],
    *,
    what: str,
    warnings: tuple[str, ...] = (),
) -> Result:
    """Write the file again if it ``differs``, and set owner and mode. ``facts`` returns the facts about
    it.
    """
    path = where.path
    if not where.create and "created" in differs and not where.replaces_link:
        known = {"path": path, **facts(None)}
        comment = f"{path} does not exist, and create is False"
        return Result(outcome=Outcome.OK, comment=comment, data=known, warnings=warnings)
    if where.replaces_link:
        differs = {"replaced": path, **differs}
    content = make() if differs and not ctx.test else None
    done = place(ctx, where.file, content)
    changes = {**differs, **{word: done.changes[word] for word in ATTRIBUTES if word in done.changes}}
    notes = done.comment.splitlines()[1:] if ctx.test else []
    return Result(
        outcome=Outcome.WOULD_CHANGE if changes and ctx.test else Outcome.OK,
        comment="\n".join([_comment(what, differs, changes, test=ctx.test), *notes]),
        changes=changes,
        data={"path": path, **facts(where.read())},
        warnings=warnings,
    )


def _comment(what: str, differs: Mapping[str, object], changes: Mapping[str, object], *, test: bool) -> str:
    if not changes:
        return f"The {what} is in the correct state"
    if differs and set(differs) <= FORM_ONLY:
        return f"The {what} {'would have' if test else 'has'} been encoded again; it stays the same"
    verb = "created" if "created" in differs else "recreated" if differs else "changed"
    return f"The {what} {'would have' if test else 'has'} been {verb}"
