"""``file``: write, append, prepend, truncate."""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import absolute, explain_errors
from saltern.modules.lib.files.edit import end_line
from saltern.system import files


def _lines(args: tuple[object, ...], kwargs: dict[str, object]) -> list[str]:
    """The lines for ``write`` and others: from single arguments, or from ``args=`` with a text or a list."""
    given = kwargs.get("args", list(args))
    listed = given if isinstance(given, list | tuple) else [given]
    return [str(item) for part in listed for item in (part if isinstance(part, list | tuple) else [part])]


def read_text(path: str, encoding: str | None = None) -> str:
    return (files.read(path) or b"").decode(*codec_of(encoding))


def write_text(path: str, text: str, encoding: str | None = None) -> None:
    files.write(path, text.encode(*codec_of(encoding)))


def codec_of(encoding: str | None) -> tuple[str, str]:
    """The codec and its error handler: UTF-8 keeps invalid bytes, others are strict."""
    if not encoding:
        return "utf-8", "surrogateescape"
    try:
        "".encode(encoding)
    except LookupError:
        raise BadArgument(f"no encoding is called {encoding!r}") from None
    return encoding, "strict"


@function
def write(ctx: Context, /, path: str, *args: str, **kwargs: object) -> str:
    """Write lines to a file, replacing its content.

    Example:
        ```console
        $ saltern call file.write /srv/app/list.txt one two
        local:
            /srv/app/list.txt: wrote 2 lines
        ```
    """
    lines = _lines(args, kwargs)
    full = absolute(path)
    with explain_errors(path):
        write_text(full, "".join(end_line(line) or "\n" for line in lines))
    return f"{path}: wrote {len(lines)} lines"


@function
def append(ctx: Context, /, path: str, *args: str, **kwargs: object) -> str:
    """Add lines to the end of a file.

    Example:
        ```console
        $ saltern call file.append /srv/app/list.txt four five
        local:
            /srv/app/list.txt: wrote 2 lines
        ```
    """
    lines = _lines(args, kwargs)
    full = absolute(path)
    with explain_errors(path):
        write_text(full, end_line(read_text(full)) + "".join(end_line(line) or "\n" for line in lines))
    return f"{path}: wrote {len(lines)} lines"


@function
def prepend(ctx: Context, /, path: str, *args: str, **kwargs: object) -> str:
    """Add lines to the start of a file.

    Example:
        ```console
        $ saltern call file.prepend /srv/app/list.txt zero
        local:
            /srv/app/list.txt: put 1 lines first
        ```
    """
    lines = _lines(args, kwargs)
    full = absolute(path)
    with explain_errors(path):
        write_text(full, "".join(end_line(line) or "\n" for line in lines) + read_text(full))
    return f"{path}: put {len(lines)} lines first"


@function
def truncate(ctx: Context, path: str, length: int) -> None:
    """Truncate a file to this many bytes.

    Example:
        ```console
        $ saltern call file.truncate /srv/app/list.txt 4
        local:
            None
        ```
    """
    full = absolute(path)
    with explain_errors(path):
        files.write(full, (files.read(full) or b"")[: int(length)])
