"""``saltern chain plan`` and ``chain run --plan``: plans of chains, made, shown and run at the controller."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from saltern.chains.inputs import MASK, Input
from saltern.cli import exits
from saltern.cli.chain_fleet import follow_started
from saltern.cli.chain_inputs import given_inputs
from saltern.cli.chain_rows import ACROSS_DESTS, rollout_of
from saltern.cli.chain_source import what_to_run
from saltern.cli.connect import connect
from saltern.fleet.view import chain_plan
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.outputs import options_for, write_data

if TYPE_CHECKING:
    from saltern.fleet.client.client import Client

LOOK = 0.3  # seconds between two polls of a plan
OPEN = "open"
Plan = dict[str, Any]


def plan_or_run(args: SimpleNamespace) -> int:
    """Run ``chain plan …`` or ``chain run --plan PLAN``; return the exit code."""
    if args.verb == "run":
        return _run_planned(args)
    word, *rest = args.words or [""]
    if word == "list":
        return _list(args, rest)
    if word == "show":
        return _show(args, rest)
    return _make(args)


def _make(args: SimpleNamespace) -> int:
    if len(args.words) != 1:
        raise _shape("saltern chain plan: give one chain file, or the name of a chain")
    if args.on is None:
        raise _shape("saltern chain plan needs --on TARGET: the systems that are asked")
    with connect(args) as client:
        number = client.chain_plans.make(
            args.on, **what_to_run(args, client), rollout=rollout_of(args), pinned=args.pin
        )
        return _print(args, _ready(client, number))


def _ready(client: Client, name: str) -> Plan:
    """Wait for the dry run of a plan, and return the plan."""
    seen: list[str] = []
    try:
        while (plan := client.chain_plans.get(name))["status"] == OPEN:
            if not seen:
                print(f"saltern: plan {name}: waiting for {len(plan['waiting'])} systems", file=sys.stderr)
            seen = [name]
            time.sleep(LOOK)
    except KeyboardInterrupt:
        print(f"saltern: planning continues; `saltern chain plan show {name}` shows it", file=sys.stderr)
        raise
    return plan


def _show(args: SimpleNamespace, words: list[str]) -> int:
    if len(words) != 1:
        raise _shape("saltern chain plan show: give one plan; `saltern chain plan list` lists them")
    with connect(args) as client:
        return _print(args, client.chain_plans.get(words[0]))


def _list(args: SimpleNamespace, words: list[str]) -> int:
    if len(words) > 1:
        raise _shape("saltern chain plan list: give nothing, or the name of a chain")
    with connect(args) as client:
        rows = list(client.chain_plans.list(chain=words[0] if words else ""))
    if args.out != "nested":
        return _data(args, rows)
    print("\n".join(chain_plan.list_lines(rows, time.time())))
    return exits.OK


def _print(args: SimpleNamespace, plan: Plan) -> int:
    """Print the plan; return the exit code, a failure if an action would fail or a system was not planned."""
    if args.out != "nested":
        _data(args, plan)
    else:
        options = options_for(sys.stdout, colour=args.color, label="")
        print("\n".join(chain_plan.plan_lines(plan, options, time.time())))
    failing = any(step["would"] == "fail" for one in plan["systems"] for step in one["steps"])
    if plan["status"] == "ready" and plan["systems"] and args.out == "nested":
        short = plan["sha256"][: chain_plan.SHORT]
        print(f"saltern: `saltern chain run --plan {short}` runs it", file=sys.stderr)
    return exits.FAILED if failing or plan["unplanned"] else exits.OK


def _data(args: SimpleNamespace, value: object) -> int:
    write_data(value, sys.stdout, options_for(sys.stdout, colour=args.color, label=""), args.out)
    return exits.OK


# -- run ----------------------------------------------------------------------------------------------


def _run_planned(args: SimpleNamespace) -> int:
    _refuse_others(args)
    with connect(args) as client:
        if args.replan:
            return _replan(args, client)
        secrets = given_inputs(args, {"": Input()})  # the controller reads them
        made = client.chain_runs.start_planned(args.plan, client_token=args.token or "", inputs=secrets)
        left_out = client.chain_plans.get(args.plan)["unplanned"]
        for system, why in left_out.items():
            print(f"saltern: {system} is left out: it could not be planned: {why}", file=sys.stderr)
        return follow_started(args, client, made, [])


def _replan(args: SimpleNamespace, client: Client) -> int:
    """Make the same plan again; the earlier plan stays as it is."""
    before = client.chain_plans.get(args.plan)
    inputs = {name: value for name, value in before["inputs"].items() if value != MASK}
    number = client.chain_plans.make(
        before["target"],
        chain=before["chain"],
        inputs={**inputs, **given_inputs(args, {"": Input()})},
        rollout=before["rollout"],
        environment=before["environment"],
        pinned=before["pinned"],
    )
    return _print(args, _ready(client, number))


def _refuse_others(args: SimpleNamespace) -> None:
    """Refuse a chain, target, inputs or rollout beside a plan, which has its own."""
    given = [name for name in ACROSS_DESTS if getattr(args, name)]
    given += [name for name in ("on", "pillar", "saltenv", "test", "pin") if getattr(args, name)]
    if args.words:
        raise _shape("chain run --plan takes no chain: the plan has one")
    if given:
        flag = given[0].replace("_", "-")
        raise _shape(f"--{flag} cannot be used with chain run --plan: the plan has its own")


def _shape(what: str) -> OperationError:
    fix = "`saltern chain plan CHAIN --on TARGET` makes a plan, `saltern chain run --plan PLAN` runs it"
    return OperationError(Diagnostic(code="option-shape", what=what, fix=fix))
