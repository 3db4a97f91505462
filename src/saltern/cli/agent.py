"""``saltern agent``: this machine as a system of a fleet."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING

import msgspec

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.options import CONTROLLER_ROW, SSH_ROWS
from saltern.language.diagnostics import Diagnostic, OperationError

if TYPE_CHECKING:
    from saltern.fleet.agent.paths import AgentPaths

ABOUT = """\
Take part in a fleet: the agent takes jobs from its controllers and returns their results.

  join TOKEN            join a fleet, once; `-` reads the token from standard input
  run                   run the agent, until it is stopped
  status                whether it is connected, and what it is doing
  sync                  fetch missed jobs from the controllers now
  log                   the last lines of the agent's log
  leave                 forget the fleet: membership and keys are removed
  install-service       start it at boot: a systemd unit, an init script
  deploy --on TARGET    install agents on SSH systems; with --remove, remove them again"""
EPILOG = """\
examples:
  saltern agent join saltern-join-eNo…
  saltern agent run --directory /tmp/agent1     everything below one directory, without privileges
  saltern agent deploy --on 'web*'              systems of the controller's roster get an agent
  saltern agent deploy --on web1 --roster hosts.yaml --remove"""
DAY = 86_400.0
DEPLOY = "deploy"
JOIN_WAIT, UP_WAIT = "300", "60"


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    most = 1 if args.verb == "join" else 0
    if len(args.words) > most or (args.verb == "join" and not args.words):
        print(f"saltern agent {args.verb}: give {'one token' if most else 'no words'}", file=sys.stderr)
        return exits.SURROUNDINGS
    if args.verb == DEPLOY:
        from saltern.cli.agent_deploy import run_deploy

        return run_deploy(args, _seconds(args.wait or UP_WAIT))
    from saltern.fleet.agent.paths import agent_paths

    return VERBS[args.verb](args, agent_paths(args.directory))


def _join(args: SimpleNamespace, paths: AgentPaths) -> int:
    from saltern.fleet.agent.join import is_joined, join

    text = sys.stdin.read() if args.words[0] == "-" else args.words[0]
    id_ = args.minion_id or _own_id(paths)
    if args.if_needed and is_joined(paths, text, id_):
        _say(f"this machine is in the fleet already, as {id_}")
        return exits.OK
    member = join(paths, text, id_, wait=_seconds(args.wait or JOIN_WAIT), say=_say)
    _say(f"joined fleet {member.fleet} as {member.id}; start the agent: {_how_to_start(args)}")
    return exits.OK


def _how_to_start(args: SimpleNamespace) -> str:
    import shlex

    if args.directory:
        return f"saltern agent run --directory {shlex.quote(args.directory)}"
    service = "saltern agent install-service && systemctl start saltern-agent"
    return f"{service}; or, to try it: saltern agent run" if os.geteuid() == 0 else "saltern agent run"


def _own_id(paths: AgentPaths) -> str:
    """The id from the configuration, or the host name."""
    from saltern.config.load import load

    config = paths.config if os.path.isfile(paths.config) else None
    return load(config, {}, os.environ)[0].id


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        what = f"--wait needs a number of seconds, not {text!r}"
        raise OperationError(Diagnostic(code="option-shape", what=what)) from None


def _say(text: str) -> None:
    print(f"saltern: {text}", file=sys.stderr, flush=True)


def _run(args: SimpleNamespace, paths: AgentPaths) -> int:
    from saltern.fleet.agent.lean import import_lean, restart_lean

    restart_lean(["agent", "run", *(["--directory", paths.base] if args.directory else [])])
    import_lean()
    from saltern.fleet.agent.process import run

    return run(paths)


def _status(args: SimpleNamespace, paths: AgentPaths) -> int:
    from saltern.fleet.agent.socket import ask_agent

    found = ask_agent(paths.socket, {"ask": "status"})
    if args.out == "json":
        print(msgspec.json.encode(found).decode())
    else:
        from saltern.fleet.agent.show import status_lines

        print("\n".join(status_lines(found)))
    return exits.OK if found.get("connected") and not found.get("refused") else exits.FAILED


def _sync(_args: SimpleNamespace, paths: AgentPaths) -> int:
    from saltern.fleet.agent.socket import ask_agent

    found = ask_agent(paths.socket, {"ask": "sync"})
    if problem := found.get("refused") or found.get("problem"):
        _say(f"no sync: {problem}")
        return exits.FAILED
    _say("synced")
    return exits.OK


def _log(args: SimpleNamespace, paths: AgentPaths) -> int:
    from saltern.fleet.agent.log import read_log

    for line in read_log(paths.log, int(args.lines) if args.lines.isdigit() else 50):
        print(line)
    return exits.OK


def _leave(args: SimpleNamespace, paths: AgentPaths) -> int:
    from saltern.fleet.agent.join import is_member, leave
    from saltern.fleet.agent.socket import ask_agent

    if args.if_needed and not is_member(paths):
        _say("this machine is in no fleet")
        return exits.OK
    with suppress(OperationError):  # it may not be running
        ask_agent(paths.socket, {"ask": "leave"})
    member = leave(paths)
    _say(f"left fleet {member.fleet}; on the controller: saltern fleet keys revoke {member.id}")
    return exits.OK


def _install(args: SimpleNamespace, paths: AgentPaths) -> int:
    from saltern.cli.install_service import service_errors
    from saltern.fleet.agent import service

    with service_errors(args.root):
        if args.remove:
            done, word = service.remove(args.root), "removed"
        else:
            done, word = service.install(args.root, directory=paths.base, python=args.python), "wrote"
    for place in done:
        print(f"{word} {place}")
    if not done:
        print("nothing is installed" if args.remove else "all is installed already")
    elif not args.remove and args.root == "/":
        _say("start it now: systemctl start saltern-agent, or service saltern-agent start")
    return exits.OK


VERBS: dict[str, Callable[[SimpleNamespace, AgentPaths], int]] = {
    "join": _join,
    "run": _run,
    "status": _status,
    "sync": _sync,
    "log": _log,
    "leave": _leave,
    "install-service": _install,
}
LINE = CommandLine(
    command="agent",
    about=ABOUT,
    epilog=EPILOG,
    words=(
        Word(dest="verb", metavar="VERB", choices=(*VERBS, DEPLOY), help=", ".join((*VERBS, DEPLOY))),
        Word(dest="words", metavar="TOKEN", many=True, help="join: the token that the controller printed"),
    ),
    rows=(
        Row(
            flag="--directory",
            dest="directory",
            metavar="DIR",
            help="keep everything below DIR: configuration, keys, state, socket",
        ),
        Row(flag="--id", dest="minion_id", metavar="ID", help="join: the id for this machine in the fleet"),
        Row(
            flag="--wait",
            dest="wait",
            metavar="SECONDS",
            default="",
            help=f"join: wait at most SECONDS for an operator to accept the key (default: {JOIN_WAIT});"
            f" deploy: for the agent to come up (default: {UP_WAIT})",
        ),
        Row(
            flag="--if-needed",
            dest="if_needed",
            kind="on",
            default=False,
            help="join: succeed if this machine is already in that fleet with that id; leave: if it"
            " is in no fleet",
        ),
        Row(
            flag="--root",
            dest="root",
            metavar="DIR",
            default="/",
            help="install-service: the root of another machine's disk",
        ),
        Row(
            flag="--python",
            dest="python",
            metavar="FILE",
            default="",
            help="install-service: the Python to start",
        ),
        Row(
            flag="--remove",
            dest="remove",
            kind="on",
            default=False,
            help="install-service: remove it again; deploy: turn agent systems back into SSH systems",
        ),
        Row(flag="--on", dest="on", metavar="TARGET", default="", help="deploy: which systems"),
        Row(
            flag="--start",
            dest="start",
            metavar="COMMAND",
            default="",
            help="deploy: start the agent with this shell command instead of a service; $AGENT is"
            " the agent's own command",
        ),
        CONTROLLER_ROW,
        *SSH_ROWS,
        Row(flag="--lines", dest="lines", metavar="N", default="50", help="log: how many lines"),
        Row(
            flag="--out",
            dest="out",
            metavar="FORMAT",
            choices=("human", "json"),
            default="human",
            help="status: human, json (default: human)",
        ),
    ),
)
