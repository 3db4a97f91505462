"""The words of a state's nature, for type checkers: Python compiles each annotation, so no run imports it."""

from __future__ import annotations

from typing import TypedDict

from saltern.language.nature import NameIs, Repeat


class NatureWords(TypedDict, total=False):
    """The same words, each of them optional."""

    repeat: Repeat
    programs_only: bool
    refreshes: tuple[str, ...]
    reloads: bool
    installs: bool
    removes: bool
    name_is: NameIs
    from_file: bool
    acts_always: bool
    advice: str
    runs_commands: bool
