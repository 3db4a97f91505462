"""``file``: digests of files."""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import expand_home, explain_errors
from saltern.modules.lib.files.facts import digest
from saltern.modules.lib.files.sources import FORMS
from saltern.system import files


def digest_of(path: str, form: str) -> str:
    with explain_errors(path):
        data = files.read(expand_home(path))
    if data is None:
        raise BadArgument(f"{path}: no such file")
    try:
        return digest(data, form)
    except ValueError:
        raise BadArgument(f"no checksum is called {form!r}; use one of {', '.join(FORMS.values())}") from None


@function
def get_hash(ctx: Context, path: str, form: str = "sha256", chunk_size: int = 65536) -> str:
    """The checksum of a file.

    Example:
        ```console
        $ saltern call file.get_hash /srv/app/list.txt sha1
        local:
            98ce56098daf1a2ffe03a0d108ea841f1e4e6c69
        ```
    """
    return digest_of(path, form)


@function
def get_sum(ctx: Context, path: str, form: str = "sha256") -> str:
    """The checksum of a file.

    Example:
        ```console
        $ saltern call file.get_sum /srv/app/list.txt md5
        local:
            deed54b823522e0525693b090363f9df
        ```
    """
    return digest_of(path, form)


@function
def check_hash(ctx: Context, path: str, file_hash: str) -> bool:
    """True if a file has this checksum: ``sha256=…``, ``sha256:…`` or bare digits.

    Example:
        ```console
        $ saltern call file.check_hash /srv/app/list.txt sha1:98ce56098daf1a2ffe03a0d108ea841f1e4e6c69
        local:
            True
        ```
    """
    form, _, value = file_hash.replace("=", ":").rpartition(":")
    chosen = form or FORMS.get(len(value), "")
    if not chosen:
        raise BadArgument(f"{file_hash!r} is not a checksum: it has {len(value)} digits")
    return digest_of(path, chosen) == value.lower()
