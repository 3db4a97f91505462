"""Compiled templates on disk.

They are code: kept only in a directory that no other user can write, separately for each version of Jinja and
Python and for each set of options.
"""

from __future__ import annotations

import os
import sys
from types import CodeType
from typing import TYPE_CHECKING

import jinja2
from jinja2.bccache import Bucket, BytecodeCache

from saltern.render.jinja.bulk import Bulk
from saltern.system.private import make_private

if TYPE_CHECKING:
    from saltern.render.jinja.environment import Environment

SECRETIVE = "no_log"  # compiled code contains the text: templates with this word are not kept
_FORMAT = 2  # increase it when older compiled templates no longer fit


def compile_template(environment: Environment, text: str, name: str, file: str, part: str = "") -> CodeType:
    """The template's code, from disk if possible; each part of a file is cached separately."""
    cache = environment.bytecode_cache
    if cache is None or SECRETIVE in text:
        return _compile_part(environment, text, name, file, part)
    bucket = cache.get_bucket(environment, name, f"{file}>{part}" if part else file, text)
    if bucket.code is None:
        bucket.code = _compile_part(environment, text, name, file, part)
        cache.set_bucket(bucket)
    return bucket.code


def _compile_part(environment: Environment, text: str, name: str, file: str, part: str) -> CodeType:
    if not part:
        return environment.compile(text, name, file)
    start = text.lstrip("\n")
    with environment.below(len(text) - len(start)):
        return environment.compile(start, name, file)


def code_for(environment: Environment, text: str, name: str, file: str) -> bytes:
    """The code of a whole template as the cache stores it."""
    cache = environment.bytecode_cache
    assert cache is not None
    bucket = Bucket(environment, cache.get_cache_key(name, file), cache.get_source_checksum(text))
    bucket.code = environment.compile(text, name, file)
    return bucket.bytecode_to_string()


def bytecode(cachedir: str, options: object) -> BytecodeCache | None:
    """The cache below ``cachedir``, or None if others can write there."""
    if not cachedir:
        return None
    from zlib import crc32

    made_by = (
        f"{_FORMAT}-{jinja2.__version__}-{sys.implementation.cache_tag}-{crc32(repr(options).encode()):08x}"
    )
    folder = os.path.join(cachedir, f"jinja-{made_by}")
    try:
        make_private(folder)
        place = os.stat(folder)
    except OSError:
        return None
    if place.st_uid != os.geteuid() or place.st_mode & 0o077:
        return None
    return DiskCache(folder)


class DiskCache(BytecodeCache):
    """Compiled templates, one file each. A full or read-only disk costs speed, not the run.

    Templates compiled in bulk are together in one file: creating a thousand
    files can take longer than compiling them.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._bulk: Bulk | None = None

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            with open(f"{self._folder}/{bucket.key}", "rb") as file:
                bucket.load_bytecode(file)
        except OSError:
            pass
        if bucket.code is None and (kept := self.bulk.get(bucket.key)) is not None:
            from io import BytesIO

            bucket.load_bytecode(BytesIO(kept))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write in place: a partial file does not load, and is compiled again."""
        try:
            with open(f"{self._folder}/{bucket.key}", "wb") as file:
                bucket.write_bytecode(file)
        except OSError:
            pass

    @property
    def bulk(self) -> Bulk:
        if self._bulk is None:
            self._bulk = Bulk(f"{self._folder}/bulk")
        return self._bulk

    def has(self, key: str) -> bool:
        """True if there is an entry, even for an older text."""
        return key in self.bulk or os.path.exists(f"{self._folder}/{key}")
