"""Files that are rendered on the controller: found in a scan, and replaced by stubs.

A file says so in its first line, or its environment is rendered on the controller as a whole. In such an
environment these are all state files and the templates that they import: those outside directories called
``files`` and ``templates``, which hold the files that states deploy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.files.manifest import FILE, Entry, make_manifest
from saltern.fleet.files.pieces import digest_of
from saltern.fleet.files.scan import Content, ContentChanged, Scan
from saltern.fleet.protocol.hidden_file import HiddenFile
from saltern.language.delayed import Limit, Unlimited, Words
from saltern.language.diagnostics import CompileError
from saltern.render.blocks import sls_words
from saltern.sources.stub import is_marked

STATES = ".sls"
TEMPLATES = (".jinja", ".jinja2", ".j2", ".mako", ".macros")
SENT = ("files", "templates")  # directories of files that states deploy
FIRST = 256  # characters that are read to find the mark
MARKABLE = (STATES, *TEMPLATES, ".yaml", ".yml", ".json", ".map", ".lib", ".tmpl")


class Concealment(Struct, frozen=True, kw_only=True):
    """Which files are hidden: all files of these environments, and marked files.

    ``patterns`` are globs of paths; without any, the default rule applies. ``limit``: for delayed files
    without one.
    """

    environments: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()
    limit: Limit | None = None

    def is_hidden(self, environment: str, path: str) -> bool:
        """True for a file of an environment that is rendered on the controller as a whole."""
        if environment not in self.environments:
            return False
        if self.patterns:
            return any(fnmatchcase(path, one) for one in self.patterns)
        folders = path.split("/")[:-1]
        return path.endswith(STATES) or (path.endswith(TEMPLATES) and not set(folders) & {*SENT})


class Marks:
    """Knows which contents are marked; each is read once."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}

    def is_marked(self, entry: Entry, content: Content | None) -> bool:
        if content is None or not entry.path.endswith(MARKABLE):
            return False
        if entry.digest not in self._known:
            self._known[entry.digest] = is_marked(_read(content, FIRST).decode(errors="replace"))
        return self._known[entry.digest]

    def keep_only(self, digests: Mapping[str, object]) -> None:
        """Forget contents that are no longer in any root."""
        self._known = {digest: known for digest, known in self._known.items() if digest in digests}


def hidden_entries(found: Scan, rule: Concealment, marks: Marks) -> dict[str, set[str]]:
    """The paths of hidden files, by environment."""
    hidden: dict[str, set[str]] = {}
    for environment, manifest in found.manifests.items():
        for entry in manifest.entries():
            if entry.kind == FILE and (
                rule.is_hidden(environment, entry.path)
                or marks.is_marked(entry, found.contents.get(entry.digest))
            ):
                hidden.setdefault(environment, set()).add(entry.path)
    marks.keep_only(found.contents)
    return hidden


def hidden_files(
    found: Scan, hidden: Mapping[str, set[str]], rule: Concealment, known: dict[str, str]
) -> dict[HiddenFile, Content]:
    """The contents that the stubs replace. ``known`` has the words of contents that were read before."""
    needed: dict[HiddenFile, Content] = {}
    for entry in _hidden_entries(found, hidden):
        content = found.contents[entry.digest]
        if entry.digest not in known:
            known[entry.digest] = _words(read_whole(content, entry.digest), rule.limit)
        needed[HiddenFile(entry.digest, known[entry.digest])] = content
    return needed


def _hidden_entries(found: Scan, hidden: Mapping[str, set[str]]) -> Iterator[Entry]:
    for environment, paths in hidden.items():
        for entry in found.manifests[environment].entries():
            if entry.kind == FILE and entry.path in paths:
                yield entry


def conceal(
    found: Scan, hidden: Mapping[str, set[str]], words: Mapping[str, str], stubs: Mapping[HiddenFile, str]
) -> Scan:
    """The scan with stubs in place of the hidden files."""
    texts: dict[str, bytes] = {}

    def show_entry(environment: str, entry: Entry) -> Entry:
        if entry.kind != FILE or entry.path not in hidden.get(environment, ()):
            return entry
        data = stubs[HiddenFile(entry.digest, words[entry.digest])].encode()
        texts[digest_of(data)] = data
        return Entry(entry.path, FILE, entry.mode, len(data), digest_of(data), entry.link)

    manifests = {
        name: make_manifest(name, [[show_entry(name, entry) for entry in layer] for layer in manifest.layers])
        for name, manifest in found.manifests.items()
    }
    visible = {entry.digest for manifest in manifests.values() for entry in manifest.entries()}
    contents = {digest: content for digest, content in found.contents.items() if digest in visible}
    return replace(found, manifests=manifests, contents=contents, stubs=texts)


def read_whole(content: Content, digest: str) -> bytes:
    """A content from its file. ``ContentChanged`` if the file has changed since."""
    data = _read(content, content.size + 1)
    if digest_of(data) != digest:
        raise ContentChanged(content.path)
    return data


def _read(content: Content, size: int) -> bytes:
    try:
        with open(content.path, "rb") as file:
            return file.read(size)
    except OSError:
        raise ContentChanged(content.path) from None


def _words(data: bytes, limit: Limit | None) -> str:
    """The words of the ``#!delayed_sls`` line, with the controller's limit where it names none."""
    text = data.decode(errors="replace")
    try:
        words = sls_words(text, "")
    except CompileError:
        words = Words()  # reported when the file is rendered
    limit = words.limit if words.limit is not None else limit
    parts = ["scoped"] if words.scoped else []
    if limit is not None:
        parts.append(f"delayed_repeat_limit={'None' if isinstance(limit, Unlimited) else limit}")
    if words.refresh:
        parts.append(f"refresh={','.join(sorted(words.refresh))}")
    return " ".join(parts)
