"""``archive``: list the contents of archives."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from collections.abc import Iterator, Sequence

from saltern.modules.api.commands import words
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import absolute, explain_errors
from saltern.modules.lib.archives.entries import Entry, toplevel

KINDS = ("dirs", "files", "links")
KIND_OF = {"directory": "dirs", "file": "files", "hardlink": "files", "link": "links"}


@function(name="list")
def list_(
    ctx: Context,
    name: str,
    archive_format: str | None = None,
    options: str | None = None,
    strip_components: int | None = None,
    clean: bool = False,
    verbose: bool = False,
    saltenv: str = "base",
    source_hash: str | None = None,
    use_etag: bool = False,
) -> object:
    """The names in an archive; with ``verbose`` by kind: ``dirs``, ``files``, ``links`` and the top level.

    Directories end in ``/``.

    Args:
        name: ``salt://``, a path or a web address.
        archive_format: the format, if the name does not show it.
        options, strip_components: as in ``archive.extracted``.
        source_hash: the checksum of the archive.

    Example:
        ```console
        $ saltern call archive.list /srv/downloads/tool-1.2.tar.gz
        local:
            - tool-1.2/
            - tool-1.2/bin/
            - tool-1.2/bin/tool
        ```
    """
    from saltern.modules.lib.archives.formats import Packed, contents, form_of
    from saltern.modules.lib.archives.material import locate
    from saltern.modules.lib.files.sources import Fetch

    given = words(options) if options else []
    if strip_components:
        given.append(f"--strip-components={strip_components}")
    fetch = Fetch(source_hash=source_hash or "", skip_verify=True, keep_source=False)
    with explain_errors(name), locate(ctx, name, fetch) as (url, path):
        packed = Packed(path=path, form=form_of(archive_format, url, path), options=tuple(given))
        _, found = contents(ctx, packed)
    names = {kind: sorted(_names(found, kind)) for kind in KINDS}
    if not verbose:
        return sorted(name for listed in names.values() for name in listed)
    directories, _ = toplevel(found)
    return {
        **names,
        "top_level_dirs": [f"{name}/" for name in directories],
        **{f"top_level_{kind}": [name for name in names[kind] if "/" not in name] for kind in KINDS[1:]},
    }


def _names(found: Sequence[Entry], kind: str) -> Iterator[str]:
    for entry in found:
        if KIND_OF.get(entry.kind) == kind:
            yield f"{entry.name}/" if kind == "dirs" else entry.name


@function
def is_encrypted(ctx: Context, name: str, clean: bool = False, saltenv: str = "base") -> bool:
    """True if a zip archive needs a password.

    Example:
        ```console
        $ saltern call archive.is_encrypted /srv/downloads/site.zip
        local:
            False
        ```
    """
    import zipfile

    with explain_errors(name):
        try:
            with zipfile.ZipFile(absolute(name)) as archive:
                return any(info.flag_bits & 1 for info in archive.infolist())
        except zipfile.BadZipFile:
            raise BadArgument(f"{name} is not a zip archive") from None
