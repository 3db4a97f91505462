"""``saltern approvals``: jobs that need the approval of another person."""

from __future__ import annotations

from types import SimpleNamespace

from saltern.cli import exits
from saltern.cli.access_output import Verb, run_verb, show_list
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.options import CONTROLLER_ROW, output_rows
from saltern.fleet.client.client import Client

LINE = CommandLine(
    command="approvals",
    about="""\
Jobs that need the approval of another person, by the policy. With words:

  list [STATE]        open requests; or approved, rejected, used, expired or all requests
  approve REQUEST     approve a request; the requester then runs the same command again
  reject REQUEST      reject a request""",
    epilog="examples:\n  saltern approvals\n  saltern approvals approve 1f2e3d4c --why 'change 4711'",
    words=(Word(dest="words", metavar="VERB", many=True, help="what to do; list by default"),),
    rows=(
        Row(flag="--why", dest="why", metavar="TEXT", help="a reason, for the audit"),
        CONTROLLER_ROW,
        *output_rows("nested"),
    ),
)


def main(argv: list[str]) -> int:
    return run_verb("approvals", VERBS, parse(LINE, argv), "list")


def _list(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    state = words[0] if words else "open"
    return show_list(args, "approvals", client.approvals.list(state="" if state == "all" else state))


def _approve(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    made = client.approvals.approve(words[0], why=args.why or "")
    print(_describe(made, f"{made['asked_by']} can run it now"))
    return exits.OK


def _reject(args: SimpleNamespace, client: Client, words: list[str]) -> int:
    print(_describe(client.approvals.reject(words[0], why=args.why or ""), ""))
    return exits.OK


def _describe(made: dict[str, object], next_: str) -> str:
    if made["state"] == "approved":
        return f"{made['id']} is approved: {next_}"
    votes = made["votes"]
    count = sum(vote["approves"] for vote in votes) if isinstance(votes, list) else 0
    return f"{made['id']} is {made['state']}" + (
        f": {count} of {made['needed']} have approved" if made["state"] == "open" else ""
    )


VERBS: dict[str, Verb] = {
    "list": Verb(_list, (), ("STATE",)),
    "approve": Verb(_approve, ("REQUEST",)),
    "reject": Verb(_reject, ("REQUEST",)),
}
