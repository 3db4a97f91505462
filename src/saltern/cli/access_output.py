"""Shared by the commands about permissions: lists, data, and the table of verbs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from msgspec import Struct

from saltern.cli import exits
from saltern.cli.connect import connect
from saltern.fleet.client.client import Client
from saltern.fleet.view.access_lists import list_lines
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.report.colours import terminal_width
from saltern.report.outputs import options_for, write_data

Act = Callable[[SimpleNamespace, Client, list[str]], int]


class Verb(Struct, frozen=True):
    """What a verb does, and the words that follow it; ``…`` after the last word: it can be repeated or left
    out.
    """

    act: Act
    takes: tuple[str, ...] = ()
    may_take: tuple[str, ...] = ()


def run_verb(command: str, verbs: Mapping[str, Verb], args: SimpleNamespace, default: str) -> int:
    """Look up the verb that the first word names, check the number of words after it, and run it."""
    name, *words = args.words or [default]
    verb = find_verb(command, verbs, name)
    check_words(f"{command} {name}", words, verb.takes, verb.may_take)
    with connect(args) as client:
        return verb.act(args, client, words)


def find_verb(command: str, verbs: Mapping[str, Verb], name: str) -> Verb:
    if name not in verbs:
        fix = did_you_mean(name, verbs) or f"there are {', '.join(verbs)}"
        what = f"`saltern {command}` has no {name!r}"
        raise OperationError(Diagnostic(code="option-choice", what=what, fix=fix))
    return verbs[name]


def check_words(
    command: str, words: list[str], takes: tuple[str, ...], may_take: tuple[str, ...] = ()
) -> None:
    if not len(takes) <= len(words) <= len(takes) + len(may_take):
        wanted = " ".join([*takes, *(f"[{word}]" for word in may_take)]) or "nothing"
        what = f"`saltern {command}` takes {wanted}, not {len(words)} words"
        raise OperationError(Diagnostic(code="option-choice", what=what, fix=f"saltern {command} {wanted}"))


def show_list(args: SimpleNamespace, name: str, rows: Iterable[Mapping[str, Any]]) -> int:
    """Print a list: as a table for people, or as data."""
    found = list(rows)
    if args.out != "nested":
        return show_data(args, found)
    for line in list_lines(name, found, time.time(), terminal_width(sys.stdout)):
        print(line)
    return exits.OK


def show_data(args: SimpleNamespace, value: object) -> int:
    write_data(value, sys.stdout, options_for(sys.stdout, colour=args.color), args.out)
    return exits.OK
