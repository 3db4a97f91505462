"""``saltern chain log``: what happened to a run, and the output of its actions, also live."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from saltern.cli import exits
from saltern.fleet.view.chain_log import added_text, leg_log_lines, log_lines, marked_lines
from saltern.fleet.view.chain_matrix import OVER, is_over
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.report.outputs import options_for, write_data
from saltern.report.text import emit, safe, safe_line

if TYPE_CHECKING:
    from saltern.fleet.client.client import Client

LOOK = 0.5  # seconds between two polls for new output


def show_log(args: SimpleNamespace, client: Client) -> int:
    """Print the log of a run; with a system, the output of its actions; with an action, its raw output."""
    run, *words = args.words
    if args.follow:
        return _follow(client, run, words)
    if not words:
        rows = list(client.chain_runs.log(run))
        return _print(args, rows, log_lines(rows, time.time()))
    leg = client.chain_runs.leg(run, words[0])
    action = _known_action(leg, words[1]) if len(words) > 1 else ""
    texts = list(client.chain_runs.texts(run, words[0], action=action))
    if args.out != "nested" or not action:
        return _print(args, texts, leg_log_lines(leg, texts, action))
    return _print_raw(texts)


def _known_action(leg: dict[str, Any], action: str) -> str:
    names = [step["action"] for step in leg["steps"]]
    if action not in names:
        what = f"{leg['system']} has no action {action!r} in this run"
        raise OperationError(
            Diagnostic(code="chain-action", what=what, fix=did_you_mean(action, names) or ", ".join(names))
        )
    return action


def _print_raw(texts: list[dict[str, Any]]) -> int:
    """Print the raw output of the newest attempt, each stream to its own; without control codes on a
    terminal.
    """
    newest = max((row["attempt"] for row in texts), default=0)
    for row in texts:
        if row["attempt"] == newest:
            out = sys.stderr if row["stream"] == "stderr" else sys.stdout
            emit(out, safe(row["text"]) if out.isatty() else row["text"])
            if not row["text"].endswith("\n"):
                emit(out, "\n")
    return exits.OK


def _print(args: SimpleNamespace, rows: list[Any], lines: Iterator[str]) -> int:
    if args.out == "nested":
        emit(sys.stdout, "".join(f"{line}\n" for line in lines))
    else:
        write_data(rows, sys.stdout, options_for(sys.stdout, colour=args.color, label=""), args.out)
    return exits.OK


# -- as it comes --------------------------------------------------------------------------------------


def _follow(client: Client, run: str, words: list[str]) -> int:
    """Print output until the run, or the named leg, has ended; Ctrl-C leaves it running."""
    from saltern.system.signals import end_in_order

    end_in_order()
    if len(words) > 1:
        _known_action(client.chain_runs.leg(run, words[0]), words[1])
    growth = Growth(client, run, words)
    try:
        while True:
            over = _is_over(client, run, words)
            for line in growth.new_lines():
                emit(sys.stdout, f"{line}\n")
            sys.stdout.flush()
            if over:
                return exits.OK
            time.sleep(LOOK)
    except KeyboardInterrupt:
        print(f"saltern: the run continues; `saltern chain watch {run}` shows it", file=sys.stderr)
        return exits.INTERRUPTED


def _is_over(client: Client, run: str, words: list[str]) -> bool:
    if not words:
        return is_over(client.chain_runs.get(run))
    leg = client.chain_runs.leg(run, words[0])
    if len(words) > 1:
        status = next(step["status"] for step in leg["steps"] if step["action"] == words[1])
        return leg["status"] in OVER or status not in ("not run", "waiting", "running")
    return leg["status"] in OVER


class Growth:
    """How much of each stream was shown; fetches only streams that have grown."""

    def __init__(self, client: Client, run: str, words: list[str]) -> None:
        self._client, self._run = client, run
        self._wanted = dict(zip(("system", "action"), words, strict=False))
        self._sizes: dict[tuple[Any, ...], tuple[int, bool]] = {}
        self._texts: dict[tuple[Any, ...], str] = {}

    def new_lines(self) -> Iterator[str]:
        grown: dict[tuple[str, str], None] = {}
        for row in self._client.chain_runs.outputs(self._run):
            if any(row[name] != word for name, word in self._wanted.items()):
                continue
            if self._sizes.get(_key(row)) != (row["size"], row["cut"]):
                grown[row["system"], row["action"]] = None
        for system, action in grown:
            for row in self._client.chain_runs.texts(self._run, system, action=action):
                yield from self._lines_of(row)

    def _lines_of(self, row: dict[str, Any]) -> Iterator[str]:
        key = _key(row)
        grown = row["size"] - self._sizes.get(key, (0, False))[0]
        new = added_text(self._texts.get(key, ""), row["text"], grown)
        self._sizes[key], self._texts[key] = (row["size"], row["cut"]), row["text"]
        if new:
            name = safe_line(f"{row['system']} {row['action']}")
            yield from (f"{name} {line}" for line in marked_lines(row["stream"], new))


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["system"], row["action"], row["attempt"], row["stream"]
