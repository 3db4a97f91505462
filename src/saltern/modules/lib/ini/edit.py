"""Edit an INI file: read it, change it with a function, and write it back if it differs."""

from __future__ import annotations

import os
from codecs import lookup
from collections.abc import Callable, Mapping

from msgspec import Struct

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import absolute
from saltern.modules.lib.ini.text import IniText
from saltern.system import files

Changes = dict[str, object]


class File(Struct, frozen=True, kw_only=True):
    """An INI file and its format."""

    path: str
    separator: str = "="
    encoding: str | None = None
    no_spaces: bool = False
    create: bool = True


def load(file: File) -> tuple[IniText, bool]:
    """The parsed file, and whether it exists."""
    data = files.read(file.path)
    encoding, errors = file.encoding or "utf-8", "strict" if file.encoding else "surrogateescape"
    try:
        lookup(encoding)
    except LookupError:
        raise Refused(f"no encoding is called {encoding!r}") from None
    text = (data or b"").decode(encoding, errors)
    return IniText(text, file.separator, no_spaces=file.no_spaces), data is not None


def save(file: File, ini: IniText) -> None:
    parent = os.path.dirname(file.path)
    if not os.path.isdir(parent):
        raise Refused(f"Parent directory {parent} not present; create it first")
    errors = "strict" if file.encoding else "surrogateescape"
    files.write(file.path, str(ini).encode(file.encoding or "utf-8", errors))


def edit_file(ctx: Context, file: File, change: Callable[[IniText], Changes]) -> Result:
    """The result of a state: the changes of ``change``, written unless in test mode."""
    ctx.facts = {"path": file.path}
    path = absolute(file.path)
    if not file.separator:
        raise Refused("separator is empty; give one, such as '='")
    ini, there = load(file)
    before = str(ini)
    changes = change(ini)
    if not there and not file.create:
        changes = {}
    if changes and not ctx.test and str(ini) != before:
        save(file, ini)
    return result_of(
        ctx,
        changes,
        Words(
            "No changes take effect" if there else f"{path} does not exist",
            f"{path} would be changed",
            "Changes take effect",
        ),
        {"path": path, "sections": ini.sections()},
    )


def text_of(value: object) -> str:
    """A value as text."""
    if value is None:
        return ""
    if isinstance(value, Mapping | list):
        raise Refused(f"an option needs one value, not {value!r:.60}")
    return str(value).strip()
