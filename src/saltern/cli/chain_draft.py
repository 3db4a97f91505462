"""``saltern chain add``: append an action to a chain file from the command line."""

from __future__ import annotations

import os
from re import sub
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.chains.document import read_chain
from saltern.chains.draft import NEW, action_of, with_action
from saltern.cli import exits
from saltern.cli.chain_file import read_text

if TYPE_CHECKING:
    from saltern.engine.session import Session


def add(args: SimpleNamespace, _engine: Session) -> int:
    """Append an action if the file is still valid with it; a missing file is created."""
    from saltern.system import atomic

    path, kind, *words = args.words
    policy = {"id": args.action_id, "title": args.title, "targets": args.targets or None}
    policy["on_failure"] = args.on_failure
    text = read_text(path) if os.path.lexists(path) else NEW.format(name=name_of(path))
    after = with_action(text, action_of(kind, words, policy), path)
    chain = read_chain(after, path)
    atomic.write(os.path.realpath(path), after.encode(), mode=_mode_of(path))
    added = chain.actions[-1]
    print(f"{path}: action {added.id} ({added.kind}) is number {len(chain.actions)}")
    return exits.OK


def name_of(path: str) -> str:
    """The name of a new chain: the file name, with the characters replaced that a chain name cannot have."""
    stem = os.path.basename(path).partition(".")[0]
    return sub(r"[^A-Za-z0-9_-]", "-", stem).lstrip("_-") or "chain"


def _mode_of(path: str) -> int:
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        return 0o644
