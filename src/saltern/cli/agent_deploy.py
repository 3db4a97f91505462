"""``saltern agent deploy``: turn SSH systems into agent systems, and back."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec

from saltern.cli import exits
from saltern.language.diagnostics import Diagnostic, OperationError

if TYPE_CHECKING:
    from saltern.fleet.client.client import Client
    from saltern.fleet.ssh.deploy import Deployment
    from saltern.fleet.ssh.drive import Done


def run_deploy(args: SimpleNamespace, wait: float) -> int:
    """Deploy from this machine if a roster is named; else have the controller do it for the systems of its
    own
    roster. ``wait``: seconds for an agent to start.
    """
    from saltern.cli.connect import connect
    from saltern.fleet.ssh.deploy import Deployment

    if not args.on:
        what, fix = "saltern agent deploy needs a target", "saltern agent deploy --on 'web*'"
        raise OperationError(Diagnostic(code="no-target", what=what, fix=fix))
    how = Deployment(directory=args.directory or "", start=args.start, remove=args.remove, wait=wait)
    with connect(args) as client:
        return _from_here(args, client, how) if args.roster else _by_controller(args, client, how)


def _by_controller(args: SimpleNamespace, client: Client, how: Deployment) -> int:
    from saltern.cli.follow import Shown, follow_job, new_followed
    from saltern.fleet.protocol.verbs import DEPLOY

    if how.remove:
        what = "a controller reaches a system with an agent through the agent, not over SSH"
        fix = "name the roster that reaches it: --roster FILE"
        raise OperationError(Diagnostic(code="roster-missing", what=what, fix=fix))
    _refuse({row["id"]: row for row in client.systems.list()}, client.systems.resolve(args.on))
    ask: dict[str, Any] = {"function": DEPLOY, "target": args.on, "kwargs": msgspec.to_builtins(how)}
    return follow_job(client, new_followed(client.jobs.submit(**ask), ask), Shown(patient=True))


def _from_here(args: SimpleNamespace, client: Client, how: Deployment) -> int:
    from saltern.cli.ssh_hosts import chosen_hosts, make_reach, read
    from saltern.fleet.ssh.deploy import deploy_on

    hosts = chosen_hosts(args, read(args))
    known = {row["id"]: row for row in client.systems.list()}
    if not how.remove:
        _refuse(known, [host.id for host in hosts])
    takes = [host.id for host in hosts if known.get(host.id, {}).get("kind") == "ssh"]
    token = "" if how.remove else client.tokens.make(uses=len(hosts), life=3600.0, takes=takes)
    done = deploy_on(hosts, make_reach(args), how, token)
    if how.remove:
        for host in hosts:
            if done[host.id].status == "returned" and _has_agent(known.get(host.id)):
                client.systems.remove(host.id)
    return _show(done, how)


def _refuse(known: Mapping[str, dict[str, Any]], ids: Iterable[str]) -> None:
    """Raise ``OperationError`` if one of these systems has a connected agent."""
    taken = sorted(id_ for id_ in ids if _is_at_work(known.get(id_)))
    if taken:
        what = f"these systems already have an agent: {', '.join(taken)}"
        raise OperationError(
            Diagnostic(code="fleet-has-agent", what=what, fix="leave them out of the target")
        )


def _has_agent(row: dict[str, Any] | None) -> bool:
    return row is not None and row.get("kind") == "agent" and row["state"] == "accepted"


def _is_at_work(row: dict[str, Any] | None) -> bool:
    """True if the agent of the system is connected. One that is away can be deployed again."""
    return row is not None and _has_agent(row) and bool(row.get("online"))


def _show(done: dict[str, Done], how: Deployment) -> int:
    well = "is an SSH system again" if how.remove else "has an agent now, and a controller has answered it"
    for id_, one in done.items():
        failed = one.status != "returned"
        print(f"{id_}: {one.why if failed else well}", file=sys.stderr if failed else sys.stdout)
    return exits.FAILED if any(one.status != "returned" for one in done.values()) else exits.OK
