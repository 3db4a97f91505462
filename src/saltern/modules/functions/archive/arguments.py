"""Parse the arguments of ``archive`` functions: names with commas, wildcards, how much to return."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.api.programs import complaint, program
from saltern.modules.api.refused import Refused
from saltern.modules.lib.nested_data import each
from saltern.system import files
from saltern.system.process import UnknownUser, look_up

Names = list[str]
TRIMMED = 100


def texts(given: object) -> list[str]:
    """The names in a list, or in a text with commas."""
    if given is None:
        return []
    parts = given.split(",") if isinstance(given, str) else each(given)
    return [str(part).strip() for part in parts]


def resolve_wildcards(sources: object, cwd: str | None) -> list[str]:
    """The names with wildcards resolved. The program cannot take any of them as an option."""
    from glob import glob

    names: list[str] = []
    for source in texts(sources):
        names += sorted(glob(source, root_dir=cwd)) or [source]
    return [f"./{name}" if name.startswith("-") else name for name in names]


def trim_names(names: list[str], trim_output: bool | int) -> list[str]:
    if trim_output is False or trim_output is None:
        return names
    if not isinstance(trim_output, int):
        raise BadArgument(f"trim_output needs true, false or a number, got {trim_output!r}")
    return names[: TRIMMED if trim_output is True else trim_output]


def output_names(
    ctx: Context, argv: list[str], *, what: str, cwd: str | None = None, user: str | None = None
) -> Names:
    """The output of a program on both streams: some report their work on stderr."""
    ran = program(ctx, argv, cwd=cwd, user=user)
    if ran.code:
        raise Refused(complaint(ran, argv[0], what=what))
    return [*ran.out.splitlines(), *ran.err.splitlines()]


def owner(runas: str | None) -> files.Attributes:
    if not runas:
        return files.KEPT
    try:
        who = look_up(runas)
    except UnknownUser as problem:
        raise BadArgument(str(problem)) from None
    return files.Attributes(uid=who.uid, gid=who.gid)
