"""The names in a configuration of ssh. How they are reached is left to ssh, which reads the same file."""

from __future__ import annotations

import os
import pwd
import re
import shlex
from collections.abc import Iterator
from glob import glob

from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.roster.problems import Page
from saltern.language.source import Mark

_WILD = set("*?!")
_LINE = re.compile(r"\s*([A-Za-z][A-Za-z0-9]*)(?:\s*=\s*|\s+)(\S.*)")
_OPENS = ("host", "match", "include")


def is_ssh_config(text: str) -> bool:
    """True if every line has the shape of an option of ssh, and one of them opens a block or a file."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    found = [_LINE.fullmatch(line) for line in lines]
    return all(found) and any(one is not None and one[1].lower() in _OPENS for one in found)


def read_ssh_config(page: Page) -> Iterator[Host]:
    """The names that stand for one host each. A name may come several times, and counts once."""
    names: set[str] = set()
    config = "" if _is_of_user(page.file) else os.path.abspath(page.file)
    for name, where in _names(page, ()):
        if name not in names:
            names.add(name)
            yield Host(id=name, address=name, config=config, where=where)


def _home() -> str:
    """Where ssh looks for files of the user, whatever HOME says."""
    return os.path.join(pwd.getpwuid(os.getuid()).pw_dir, ".ssh")


def _is_of_user(file: str) -> bool:
    """True for the file that ssh reads anyway."""
    return os.path.realpath(file) == os.path.realpath(os.path.join(_home(), "config"))


def _names(page: Page, above: tuple[str, ...]) -> Iterator[tuple[str, Mark]]:
    for number, line in enumerate(page.text.splitlines(), 1):
        found = _LINE.fullmatch(line)
        key = found[1].lower() if found is not None else ""
        if found is None or key not in _OPENS:
            continue
        words = _words(found[2])
        if key == "host":
            yield from ((name, page.line(number)) for name in words if not set(name) & _WILD)
        elif key == "include":
            yield from _included_names(page, words, (*above, os.path.realpath(page.file)))


def _words(text: str) -> list[str]:
    """The words of a value, as ssh reads them: with quotes, up to a comment."""
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


def _included_names(page: Page, patterns: list[str], above: tuple[str, ...]) -> Iterator[tuple[str, Mark]]:
    """The names of other files. A path counts from the file that names it, else from where ssh looks."""
    for pattern in patterns:
        path = os.path.expanduser(pattern)
        for file in _files(os.path.dirname(page.file), path):
            if os.path.realpath(file) in above or not os.path.isfile(file):
                continue
            with open(file, encoding="utf-8", errors="replace") as stream:
                inner = Page(file, stream.read(), page.found)
            yield from _names(inner, above)


def _files(folder: str, pattern: str) -> list[str]:
    return sorted(glob(os.path.join(folder, pattern))) or sorted(glob(os.path.join(_home(), pattern)))
