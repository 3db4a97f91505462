"""Find an archive in the tree or at a path, or fetch it, and verify it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from saltern.language.mask import mask
from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.addresses import is_web, on_disk
from saltern.modules.lib.files import sources
from saltern.system.temporary import private_file


@contextmanager
def locate(ctx: Context, source: object, how: sources.Fetch) -> Iterator[tuple[str, str]]:
    """The address and path of the first existing source. Only a source from the web is read into memory."""
    listed = source if isinstance(source, list) else [source]
    for item in listed:
        url, expected = _pair(item, how.source_hash)
        path = None if is_web(url) else on_disk(ctx, url)
        if path is not None:
            if expected:
                _verify(ctx, path, url, expected, how)
            elif how.signing.hash_signature:
                raise Refused("source_hash_sig needs source_hash, the location of a file of checksums")
            if how.signing.signature:
                with open(path, "rb") as packed:
                    signed = sources.Source(url=url, data=packed.read())
                sources.verify_signature(ctx, signed, how.signing.signature, how)
            yield url, path
            return
        if is_web(url):
            break
    found = sources.find(ctx, source, how)
    with private_file("archive", found.data) as file:
        yield found.url, file


def _pair(item: object, source_hash: str) -> tuple[str, str]:
    if isinstance(item, dict) and len(item) == 1:
        [(url, expected)] = item.items()
        return str(url), str(expected or source_hash)
    if not isinstance(item, str):
        raise Refused(f"source must be a text, or a list of texts and {{url: hash}}, not {item!r}")
    return item, source_hash


def _verify(ctx: Context, path: str, url: str, expected: str, how: sources.Fetch) -> None:
    form, value = sources.expected_hash(ctx, expected, url, how)
    actual = digest_of(path, form)
    if actual != value:
        raise Refused(f"{mask(url)} has the {form} checksum {actual}, but {value} is required")


def digest_of(path: str, form: str = "sha256") -> str:
    import hashlib

    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.new(form, usedforsecurity=False)).hexdigest()


def note_of(ctx: Context, name: str) -> str:
    """The file with the digest of the archive that was last unpacked into ``name``."""
    import hashlib

    from saltern.config.settings import cache_directory

    key = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
    return os.path.join(cache_directory(ctx.settings), "archive_hash", key)
