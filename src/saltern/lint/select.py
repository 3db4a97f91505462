"""Selects the files to check: the named ones, by SLS name or path, or all files of the tree."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from saltern.compiler.gather import expand
from saltern.engine.session import Session
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.source import SlsRef
from saltern.sources.tree import Tree, sls_name

_REACTION = re.compile(rb"^[ ]+['\"]?(?:local|caller|cmd|runner|wheel)\.\w+\.\w+['\"]?:", re.MULTILINE)


class Selection(Struct, frozen=True, kw_only=True):
    """``whole``: includes the top file. ``lost`` are files that their SLS names do not lead to."""

    refs: tuple[SlsRef, ...]
    whole: bool = False
    lost: tuple[tuple[SlsRef, str], ...] = ()


def select(session: Session, words: Sequence[str], without: Sequence[str]) -> Selection:
    """Select files; ``without`` are patterns of SLS names. Raises ``OperationError`` for a path outside
    the roots.
    """
    tree = session.tree
    env = session.settings.saltenv or "base"
    known = [one for env in session.environments() for one in _files(session, env)]
    chosen: list[tuple[SlsRef, str]] = [] if words else known
    whole = not words
    for word in words:
        if is_path(word, tree, env):
            place = os.path.realpath(word)
            below = [(ref, path) for ref, path in known if is_below(os.path.realpath(path), place)]
            if not below:
                raise nothing_at(word)
            chosen += below
            whole = whole or any(is_below(root, place) for root in real_roots(tree))
        else:
            named = expand(SlsRef(env, word), tree.sls_names)
            chosen += [(ref, tree.place(ref) or "") for ref in named]
    kept = [one for one in chosen if not any(fnmatchcase(one[0].name, pattern) for pattern in without)]
    states = [one for one in kept if not is_reaction(one[1])]
    if words and kept and not states:
        raise _only_reactions(kept[0][1])
    kept = states
    lost = tuple(one for one in kept if (tree.place(one[0]) or "") != one[1])
    refs = dict.fromkeys(one[0] for one in kept if one not in lost)
    return Selection(refs=tuple(refs), whole=whole, lost=lost)


def is_reaction(path: str) -> bool:
    """True if the file is for the reactor, with calls such as ``local.state.apply``; a state has one dot.
    Such a file is rendered for an event, not for a machine.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            return _REACTION.search(file.read()) is not None
    except OSError:
        return False


def _only_reactions(path: str) -> OperationError:
    what = f"{path!r} is a reactor file, not a state file"
    fix = "to see how it reacts to an event: saltern reactor test TAG DATA"
    return OperationError(Diagnostic(code="check-reaction", what=what, fix=fix))


def is_path(word: str, tree: Tree, env: str) -> bool:
    """True if a word is a path. A word that could be both is an SLS name if there is such an SLS."""
    if os.sep in word or word in (".", "..") or word.endswith(".sls"):
        return True
    return os.path.exists(word) and tree.place(SlsRef(env, word)) is None


def is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def real_roots(tree: Tree) -> list[str]:
    return [os.path.realpath(root) for env in tree.environments() for root in tree.roots(env)]


def root_around(path: str, top: str) -> str:
    """The nearest directory above a path that has a top file; else the path itself, or its directory."""
    first = folder = path if os.path.isdir(path) else os.path.dirname(path)
    while folder != os.path.dirname(folder):
        if os.path.isfile(os.path.join(folder, top)):
            return folder
        folder = os.path.dirname(folder)
    return first


def roots_around(words: Sequence[str], session: Session, env: str) -> list[str]:
    """The roots of paths outside the configured roots, so that ``saltern check states`` needs no options."""
    tree = session.tree
    words = [word for word in words if is_path(word, tree, env)]
    for word in words:
        if not os.path.exists(word):
            raise nothing_at(word)
    known = real_roots(tree)
    outside = [
        path
        for path in map(os.path.realpath, words)
        if not any(is_below(path, root) or is_below(root, path) for root in known)
    ]
    return list(dict.fromkeys(root_around(path, session.settings.state_top) for path in outside))


def _files(session: Session, env: str) -> Iterator[tuple[SlsRef, str]]:
    """The state files of an environment, without top files and pillar files."""
    tree = session.tree
    roots = [os.path.realpath(root) for root in tree.roots(env)]
    pillar = [os.path.realpath(root) for some in session.settings.pillar_roots.values() for root in some]
    within = [place for place in pillar if any(is_below(place, root) for root in roots)]
    for name in tree.names(env):
        is_top = os.path.basename(name) == session.settings.state_top
        path = tree.find(name, env) if name.endswith(".sls") and not is_top else None
        if path and not any(is_below(os.path.realpath(path), place) for place in within):
            yield SlsRef(env, sls_name(name)), path


def nothing_at(word: str) -> OperationError:
    """The error for a path that selects no file."""
    there = os.path.exists(word)
    what = f"there is no state file of the file roots at {word!r}" if there else f"there is no file {word!r}"
    fix = "name the root it belongs to: --file-root DIR" if there else ""
    return OperationError(Diagnostic(code="check-nothing", what=what, fix=fix))
