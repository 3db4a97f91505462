"""Find, read and verify sources: ``salt://``, a path, or a URL."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable

from msgspec import Struct

from saltern.language.mask import mask
from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused, explain
from saltern.modules.lib.addresses import is_web
from saltern.modules.lib.files import web_cache
from saltern.modules.lib.files.facts import digest
from saltern.modules.lib.files.signatures import NONE, Signing, verify
from saltern.modules.lib.files.web_cache import cache_path as cache_path
from saltern.system import files


class Source(Struct, frozen=True, kw_only=True):
    """A source that was found. ``name`` is its path in the tree, empty outside of it."""

    url: str
    data: bytes
    mode: int | None = None
    name: str = ""
    etag: str = ""
    fresh: bool = False  # from the web, just now

    @property
    def shown(self) -> str:
        """The address without a password."""
        return mask(self.url)


class Fetch(Struct, frozen=True, kw_only=True):
    """How to fetch and verify sources."""

    source_hash: str = ""
    source_hash_name: str = ""
    skip_verify: bool = False
    keep_source: bool = True
    verify_ssl: bool = True
    needs_hash: bool = True
    use_etag: bool = False
    signing: Signing = NONE


PLAIN = Fetch()


def find(ctx: Context, source: object, how: Fetch = PLAIN) -> Source:
    """The first existing source. Raises ``Refused`` if there is none, or if its hash is wrong."""
    listed = candidates(source, how.source_hash)
    for url, expected in listed:
        found = _read(ctx, url, expected, how)
        if found is not None:
            if how.signing.hash_signature and not expected:
                raise Refused("source_hash_sig needs source_hash, the location of a file of checksums")
            if expected:
                _verify(ctx, found, expected, how)
            if how.signing.signature:
                verify_signature(ctx, found, how.signing.signature, how)
            if found.fresh and how.keep_source and not ctx.test:
                web_cache.keep(ctx, url, found.data, found.etag)
            return found
    if len(listed) > 1:
        raise Refused("none of these sources exists: " + ", ".join(mask(url) for url, _ in listed))
    raise Refused(_absent(ctx, listed[0][0]))


def verify_signature(ctx: Context, found: Source, signature: object, how: Fetch) -> bytes:
    """The signed part of a source. A source without the required signature is not cached either."""
    plain = Fetch(needs_hash=False, keep_source=False, verify_ssl=how.verify_ssl)
    try:
        return verify(ctx, found.data, signature, how.signing, lambda place: find(ctx, place, plain).data)
    except Refused as refusal:
        if not ctx.test and is_web(found.url):
            web_cache.forget(ctx, found.url)
        raise Refused(f"{found.shown}: {refusal}") from None


def candidates(source: object, source_hash: str) -> list[tuple[str, str]]:
    """The URLs of ``[url, {url: hash}, …]`` or one URL, each with its required hash."""
    listed = source if isinstance(source, list) else [source]
    pairs: list[tuple[str, str]] = []
    for item in listed:
        if isinstance(item, str):
            pairs.append((item, source_hash))
        elif isinstance(item, dict) and len(item) == 1:
            [(url, expected)] = item.items()
            pairs.append((str(url), str(expected or source_hash)))
        else:
            raise Refused(f"source must be a text, or a list of texts and {{url: hash}}, not {item!r}")
    if not pairs:
        raise Refused("source is an empty list")
    return pairs


def _absent(ctx: Context, url: str) -> str:
    if url.startswith("salt://"):
        _, env = tree_path(ctx, url)
        return f"Source file {url} not found in saltenv {env!r}"
    return f"Source file {mask(url)} does not exist"


def tree_path(ctx: Context, url: str) -> tuple[str, str]:
    """The path and environment of ``salt://path?saltenv=env``. After ``salt://|`` nothing is special."""
    path = url.removeprefix("salt://")
    if path.startswith("|"):
        return path[1:], ctx.env
    path, _, query = path.partition("?")
    env = ctx.env
    for pair in query.split("&"):
        key, _, value = pair.partition("=")
        if key == "saltenv" and value:
            env = value
    return path, env


def _read(ctx: Context, url: str, expected: str, how: Fetch) -> Source | None:
    scheme, separator, _ = url.partition("://")
    reader = READERS.get(scheme.lower() if separator else "")
    if reader is None:
        raise Refused(
            f"{mask(url)}: sources from {scheme}:// are not supported; {', '.join(filter(None, READERS))} are"
        )
    return reader(ctx, url, expected, how)


def _from_tree(ctx: Context, url: str, _expected: str, _how: Fetch) -> Source | None:
    name, env = tree_path(ctx, url)
    place = ctx.files.find(name, env)
    return None if place is None else _from_path(url, place, name)


def _from_disk(_ctx: Context, url: str, _expected: str, _how: Fetch) -> Source | None:
    path = url.removeprefix("file://")
    if not path.startswith("/"):
        raise Refused(f"Source file {url} is neither a URL nor an absolute path")
    return _from_path(url, path, "")


def _from_path(url: str, path: str, name: str) -> Source | None:
    try:
        seen = files.see(path)
    except OSError as problem:
        raise Refused(explain(problem, path)) from None
    if seen is None:
        return None
    if seen.data is None:
        raise Refused(f"Source {url} is not a file, but a {seen.kind}")
    return Source(url=url, data=seen.data, mode=stat.S_IMODE(seen.stat.st_mode), name=name)


def _from_web(ctx: Context, url: str, expected: str, how: Fetch) -> Source | None:
    if how.needs_hash and not expected and not how.skip_verify and not how.use_etag:
        raise Refused(f"{mask(url)} cannot be verified; give its source_hash, or set skip_verify: True")
    if expected:  # before the source, which may be large
        form, value = expected_hash(ctx, expected, url, how)
        old = web_cache.read_kept(cache_path(ctx, url)) if how.keep_source else None
        if old is not None and digest(old, form) == value:
            return Source(url=url, data=old)
    reply = web_cache.ask(ctx, url, verify_ssl=how.verify_ssl, use_etag=how.use_etag)
    return None if reply.data is None else Source(url=url, data=reply.data, etag=reply.etag, fresh=True)


READERS: dict[str, Callable[[Context, str, str, Fetch], Source | None]] = {
    "": _from_disk,
    "file": _from_disk,
    "salt": _from_tree,
    "http": _from_web,
    "https": _from_web,
    "ftp": _from_web,
}


# -- hashes ------------------------------------------------------------------------------------

FORMS: dict[int, str] = {32: "md5", 40: "sha1", 56: "sha224", 64: "sha256", 96: "sha384", 128: "sha512"}
HEX = re.compile(r"(?:(md5|sha1|sha224|sha256|sha384|sha512)\s*[=:]\s*)?\b([0-9a-fA-F]{32,128})\b")


def _verify(ctx: Context, found: Source, expected: str, how: Fetch) -> None:
    form, value = expected_hash(ctx, expected, found.url, how)
    actual = digest(found.data, form)
    if actual != value:
        raise Refused(f"{found.shown} has the {form} checksum {actual}, but {value} is required")


def expected_hash(ctx: Context, text: str, url: str, how: Fetch) -> tuple[str, str]:
    """The algorithm and digest from ``sha256=…``, from bare hexadecimal digits, or from a file of
    checksums.
    """
    whole = HEX.fullmatch(text.strip())
    if whole is None and ("://" in text or text.startswith("/")):
        listing = find(ctx, text, Fetch(needs_hash=False, keep_source=False, verify_ssl=how.verify_ssl))
        data = listing.data
        if how.signing.hash_signature:
            data = verify_signature(ctx, listing, how.signing.hash_signature, how)
        return _from_listing(data.decode("utf-8", "replace"), url, how)
    if how.signing.hash_signature:
        raise Refused("source_hash_sig needs a source_hash that is the location of a file of checksums")
    if whole is None:
        raise Refused(
            f"source_hash {mask(text)!r} is neither a checksum (sha256=…) nor the location of a file of "
            "checksums"
        )
    return _form(whole, text)


def _form(match: re.Match[str], text: str) -> tuple[str, str]:
    form = FORMS.get(len(match[2]))
    if form is None or (match[1] and match[1] != form):
        raise Refused(
            f"source_hash {text!r} has {len(match[2])} digits, "
            f"the wrong number for {match[1] or 'a checksum'}"
        )
    return form, match[2].lower()


def _from_listing(text: str, url: str, how: Fetch) -> tuple[str, str]:
    """The checksum in the line that names the file; else the only checksum in the listing."""
    wanted = how.source_hash_name or os.path.basename(url.partition("?")[0])
    found = [(line, match) for line in text.splitlines() if (match := HEX.search(line))]
    named = [(line, match) for line, match in found if wanted in re.split(r"[\s*=:()/]+", line)]
    chosen = named or (found if len(found) == 1 else [])
    if not chosen:
        raise Refused(f"the file of checksums has no line for {wanted}; give source_hash_name")
    strongest = max(chosen, key=lambda pair: len(pair[1][2]))
    return _form(strongest[1], strongest[0])
