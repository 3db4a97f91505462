"""Options of ``tar`` that work without the program."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from saltern.modules.api.refused import Refused
from saltern.modules.lib.archives.judge import normal


class Selection(Struct, frozen=True):
    """The part of ``options`` that works without ``tar``: strip leading directories, exclude names."""

    strip: int = 0
    exclude: tuple[str, ...] = ()

    def name(self, member: str) -> str:
        """The destination of a member; empty if it is not unpacked."""
        from fnmatch import fnmatchcase

        name = normal(member)
        parts = name.split("/")
        if self.exclude:
            ends = range(len(parts) + 1)
            pieces = ["/".join(parts[start:end]) for end in ends for start in range(end)]
            if any(fnmatchcase(piece, pattern) for pattern in self.exclude for piece in pieces):
                return ""
        return "/".join(parts[self.strip :]) if self.strip and not name.startswith("/") else name


ALL = Selection()


def selection(options: Iterable[str]) -> Selection | None:
    """The selection in these options of ``tar``; None if only ``tar`` itself can do it."""
    strip, exclude = 0, []
    waiting = ""
    for word in options:
        name, _, value = word.partition("=")
        if waiting:
            name, value, waiting = waiting, word, ""
        elif name in WITH_VALUE and not value:
            waiting = name
            continue
        if name in ("--strip-components", "--strip"):
            if not value.isdecimal():
                raise Refused(f"--strip-components needs a number, got {value!r}")
            strip = int(value)
        elif name == "--exclude":
            exclude.append(value)
        elif name not in HARMLESS and not _letters(name):
            return None
    return Selection(strip, tuple(exclude))


WITH_VALUE = ("--strip-components", "--strip", "--exclude")
HARMLESS = frozenset(
    {"--extract", "--get", "--verbose", "--gzip", "--bzip2", "--xz", "--zstd", "--auto-compress"}
    | {"--no-same-owner", "--no-same-permissions", "--gunzip", "--overwrite", "--lzma", "--unlink-first"}
)


def _letters(word: str) -> bool:
    """True for letters such as ``xvzf`` or ``-z``, which select the compression and the verbosity."""
    return bool(word) and not word.startswith("--") and set(word.removeprefix("-")) <= set("xvzjJafU")
