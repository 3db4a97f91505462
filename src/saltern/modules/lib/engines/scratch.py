"""Private files for one run of an engine: a command line is visible to all users."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.addresses import on_disk
from saltern.system.temporary import private_directory


class Scratch:
    """Private files for one run, owned by the user who runs it and removed afterwards."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._files = ExitStack()
        self._place = ""
        self._owner: tuple[int, int] | None = None

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def write(self, name: str, text: str) -> str:
        if not self._place:
            self._make()
        path = os.path.join(self._place, name)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        self._give(path)
        return path

    def _make(self) -> None:
        from saltern.system.process import UnknownUser, look_up

        if self._ctx.runas:
            try:
                user = look_up(self._ctx.runas)
            except UnknownUser as problem:
                raise BadArgument(str(problem)) from None
            self._owner = (user.uid, user.gid)
        self._place = self._files.enter_context(private_directory("engine", owner=self._owner))

    def _give(self, path: str) -> None:
        if self._owner is not None:
            os.chown(path, *self._owner)


def path_on_disk(ctx: Context, place: str) -> str:
    if not place.startswith("salt://"):
        return place
    found = on_disk(ctx, place)
    if found is None:
        raise BadArgument(f"{place} is not in the environment {ctx.env!r}")
    return found


def json_text(value: Mapping[Any, object]) -> str:
    import json

    try:
        return json.dumps(value, default=str)
    except (TypeError, ValueError) as problem:
        raise BadArgument(f"this cannot be passed to another engine: {problem}") from None
