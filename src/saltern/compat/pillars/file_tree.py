"""``file_tree``: directories are mappings, files are values, for a machine and for its node groups."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from saltern.compat.pillars.ports import Asked, SourceError, words_of
from saltern.language.merge import merge


def file_tree(asked: Asked, given: object) -> object:
    """``root_dir/hosts/ID`` merged over ``root_dir/nodegroups/NAME`` of each group of the machine."""
    words = words_of(given)
    root = str(words.get("root_dir") or words.get("0") or "")
    if not root or os.sep in asked.id or asked.id in (".", ".."):
        raise SourceError(
            "it needs an absolute root_dir" if not root else "the name of the machine has a '/'"
        )
    found: dict[str, object] = {}
    for place in _roots(root, asked):
        if not os.path.isdir(place):
            raise SourceError(f"there is no directory {place}")
        for folder in (*_groups(place, asked), os.path.join(place, "hosts", asked.id)):
            if os.path.isdir(folder):
                more = _read(folder, "", words, asked)
                made = merge(found, more, strategy="recurse", merge_lists=False)
                assert isinstance(made, dict)
                found = made
    return found


def _roots(root: str, asked: Asked) -> list[str]:
    """A relative one is below each pillar root of the environment."""
    if os.path.isabs(root):
        return [root]
    env = asked.opts.get("pillarenv")
    roots: Sequence[str] = asked.opts.get("pillar_roots", {}).get(env, []) if env else []
    if not roots:
        raise SourceError("root_dir is relative, and no pillarenv with pillar_roots is set")
    return [os.path.join(one, root) for one in roots]


def _groups(place: str, asked: Asked) -> Iterator[str]:
    folder = os.path.join(place, "nodegroups")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    yield from (os.path.join(folder, name) for name in names if asked.groups(name))


def _read(folder: str, below: str, words: dict[str, Any], asked: Asked) -> dict[str, object]:
    found: dict[str, object] = {}
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        inner = os.path.join(below, entry.name)
        if entry.is_dir(follow_symlinks=bool(words.get("follow_dir_links"))):
            found[entry.name] = _read(entry.path, inner, words, asked)
        elif entry.is_file():
            found[entry.name] = _value(entry.path, inner, words, asked)
        elif entry.is_dir():
            found[entry.name] = {}  # a link that is not followed
    return found


def _value(path: str, name: str, words: dict[str, Any], asked: Asked) -> object:
    with open(path, "rb") as file:
        data = file.read()
    if data.endswith(b"\n") and not _keeps_newline(name, words.get("keep_newline")):
        data = data[:-1]
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    return asked.data(text, str(words.get("render_default") or "")) if words.get("template") else text


def _keeps_newline(name: str, keep: object) -> bool:
    if isinstance(keep, list):
        return any(fnmatchcase(name, str(pattern)) for pattern in keep)
    return bool(keep)
