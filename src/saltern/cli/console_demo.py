"""``saltern fleet demo --console``: a fleet with activity to see in the console.

A chain runs in waves: one system fails in the first, another reboots, and the second wave waits for an
approval. A system asks to join; there are a schedule and a window. A reboot is simulated: the agent of the
system is stopped for a while, as it would be while the machine is down.
"""

from __future__ import annotations

import time
from typing import Any

from saltern.cli.local_fleet import LocalFleet
from saltern.fleet.client.client import Client

ANNA, BEN = "anna", "ben"
PASSWORD = (
    "saltern-demo-only"  # of both users; the fleet is only on this machine, and is removed with the demo
)
CHAIN = """\
chain: os-patch
description: Drain, patch, check. The demonstration changes only files of its own.
actions:
  - id: drain
    command: echo "no more requests are taken"
  - id: snapshot
    command: sleep 1; echo "a snapshot is made"
  - id: patch
    command: sleep 2; echo "32 packages are up to date"
  - id: pause
    wait: 6
  - id: unlock
    title: only where the package manager is locked
    command: echo "dpkg is locked by process 4711" >&2; exit 100
    targets: [web1]
  - id: motd
    state: base
  - id: health
    health: {command: "true", attempts: 3, interval: 1}
finally:
  - id: note
    command: echo "os-patch has ended"
"""
POLICY = """\
rules:
  - name: operators-run
    who: [role:operator]
    functions: ['*']
    target: '*'
"""
WINDOW = """\
BEGIN:VCALENDAR
BEGIN:VEVENT
DTSTART:20200106T{begin:02}0000Z
DURATION:PT6H
RRULE:FREQ=DAILY
END:VEVENT
END:VCALENDAR
"""
AWAY = "web2"  # the system whose reboot is simulated
FAILS = "web1"
GUIDE = """\

The console: {url}

The link signs you in as an admin, once, within two minutes; `saltern console` makes another one. The browser
warns of the certificate, which the demonstration made itself. Or sign in as
  {anna}   operator and approver   password {password}
  {ben}    approver                password {password}

To see:
  Runs, os-patch     the first wave has ended: {fails} failed, {away} was away for a while, as in a reboot
  Inbox              the second wave waits for an approval: sign in as {ben}, look at it, approve it
  Chains, os-patch   change it in the builder, save it, run it
  Command            cmd.run uptime on '*': equal answers are one
  Admin              new1 asks to join: compare its fingerprint, accept it

For the command line: export SALTERN_CONTROLLER={socket}
Ctrl-C ends the demonstration, and removes all of it.
"""


def begin(fleet: LocalFleet) -> str:
    """Create users, a chain, a window and a schedule; start a run in waves, and return its id."""
    with fleet.client() as client:
        _people(client)
        client.chains.save(CHAIN.replace("pause", "settle"), note="the first one")
        client.chains.save(CHAIN, note="a better name for the pause")
        client.windows.set(
            "databases", _window(time.time()), target="db*", note="databases only in these hours"
        )
        client.schedules.set("nightly", "os-patch", "30 2 * * *", target="web*")
        run = str(client.chain_runs.start("web*", chain="os-patch", rollout=_rollout())["run"])
        _play_reboot(fleet, client, run)
        client.jobs.submit("test.ping", "*")
        _ask_to_join(fleet, client)
        fleet.wait("the end of the first wave", lambda: _is_over(client, run))
    return run


def _window(now: float) -> str:
    """A window of six hours each day that has begun: work on the databases is allowed now."""
    return WINDOW.format(begin=(time.gmtime(now).tm_hour - 1) % 24)


def _is_over(client: Client, run: str) -> bool:
    """True if all systems of the first wave have ended."""
    legs = [leg for leg in client.chain_runs.get(run)["legs"] if leg["wave"] == 1]
    return all(leg["ended"] for leg in legs)


def _rollout() -> dict[str, Any]:
    """Two systems first, then the rest after a gate; a failure does not halt the run."""
    return {"waves": [2, "rest"], "wave_gate": {"needed": 1}, "max_failures": 2}


def _people(client: Client) -> None:
    client.operators.add(ANNA, roles=["operator", "approver"], password=PASSWORD)
    client.operators.add(BEN, roles=["approver"], password=PASSWORD)
    client.policy.set(POLICY)


def _ask_to_join(fleet: LocalFleet, client: Client) -> None:
    """Start a system with a token that is used up: it waits for an operator."""
    token = client.tokens.make(uses=1)
    client.tokens.remove(max(client.tokens.list(), key=lambda one: one["made_at"])["id"])
    fleet.ask_to_join("new1", token)
    fleet.wait("the key of new1", lambda: any(one["kind"] == "key" for one in client.inbox()["items"]))


def _play_reboot(fleet: LocalFleet, client: Client, run: str) -> None:
    """Stop an agent in the middle of its leg, and start it again when the controller has noticed."""
    fleet.wait("its leg", lambda: _leg(client, run, AWAY) not in ("pending", "queued", "delivered"))
    fleet.end(AWAY)
    fleet.wait("the silence", lambda: not client.systems.get(AWAY)["online"])
    fleet.run_agent(AWAY)


def _leg(client: Client, run: str, system: str) -> str:
    return next((leg["status"] for leg in client.chain_runs.get(run)["legs"] if leg["system"] == system), "")


def guide(fleet: LocalFleet) -> str:
    """The printed guide: where the console is, who may sign in, and what to look at."""
    from saltern.cli.console import link_url

    with fleet.client() as client:
        url = link_url(client.own.make_link(), None)
    return GUIDE.format(
        url=url, anna=ANNA, ben=BEN, password=PASSWORD, fails=FAILS, away=AWAY, socket=fleet.socket
    )
