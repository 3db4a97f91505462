"""Run a script as a private copy that is removed afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from msgspec.structs import replace

from saltern.modules.api.commands import Done, Options, execute, list_of_texts, words
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.api.refused import Refused
from saltern.modules.lib import addresses
from saltern.system.process import UnknownUser, look_up
from saltern.system.temporary import NotGiven, private_file


class NoScript(Refused):
    """The source is not available; the text is for the user."""


def run_script(
    ctx: Context,
    source: str,
    args: object,
    options: Options,
    *,
    template: str | None = None,
    values: Mapping[str, object] | None = None,
    env: str = "",
) -> Done:
    """Run ``source`` with ``args`` (a text, which is split, or a list). Raises ``NoScript``,
    ``BadArgument``.
    """
    content = read(ctx, source, env or ctx.env)
    if template:
        text = content.decode("utf-8", "replace")
        path = source.removeprefix("salt://")
        content = ctx.templates.text(
            text, engine=template, env=env or ctx.env, path=path, values=values
        ).encode()
    with script_file(content, os.path.splitext(source)[1], options.runas or ctx.runas) as place:
        given = words(args) if isinstance(args, str) and args.strip() else list_of_texts(args or None)
        return execute(ctx, [*_interpreter(content, options), place, *given], replace(options, shell=None))


def read(ctx: Context, source: str, env: str) -> bytes:
    """The bytes of ``salt://…``, of a local file, or of a URL."""
    found = addresses.content(ctx, source, env)
    if found is None:
        raise NoScript(f"cannot find the script {source} in environment '{env}'")
    return found


def _interpreter(content: bytes, options: Options) -> list[str]:
    """The interpreter: the given shell, or the shell for a script without a ``#!`` line."""
    if options.shell:
        return [options.shell]
    return [] if content.startswith(b"#!") else ["/bin/sh"]


@contextmanager
def script_file(content: bytes, suffix: str, user: str | None) -> Iterator[str]:
    """A temporary file that only ``user`` (by default we) may read and run."""
    ending = suffix.split(" ")[0]
    try:
        with private_file("script", content, suffix=ending, mode=0o500, owner=_owner(user)) as path:
            yield path
    except NotGiven:
        raise BadArgument(f"only root may run a script as another user ('{user}')") from None


def _owner(user: str | None) -> tuple[int, int] | None:
    if not user:
        return None
    try:
        return look_up(user).uid, -1
    except UnknownUser:
        raise BadArgument(f"User '{user}' is not available") from None
