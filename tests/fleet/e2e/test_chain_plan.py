"""A chain planned across systems, as a user types it: a real controller, real agents."""

from __future__ import annotations

import json

from tests.fleet.e2e.conftest import Place

from saltern.cli import exits

CHAIN = """\
chain: planned
actions:
  - {id: A1, state: {sls: motd}}
  - {id: A2, file: {path: BASE/planned, contents: "TEXT\\n"}}
  - {id: A3, command: 'touch BASE/ran', targets: [web1]}
"""


def write(place: Place, text: str, name: str = "planned.yaml") -> str:
    (place.base / name).write_text(text.replace("BASE", str(place.base)))
    return name


def test_52_a_plan_is_kept_shown_and_refused_after_what_it_rests_on_has_moved(place: Place) -> None:
    name = write(place, CHAIN)
    made = place.run("chain", "plan", name, "--on", "web*")
    assert made.returncode == 0, made
    assert not (place.base / "ran").exists() and not (place.base / "planned").exists()
    assert "2 systems: 2 would change" in made.stdout, made
    assert "no reboot is foreseen" in made.stdout, made
    assert f"+ file.managed  action_A2  {place.base}/planned" in made.stdout, made
    listed = place.data("chain", "plan", "list", "planned")
    digest = listed[0]["sha256"]
    shown = place.data("chain", "plan", "show", digest[:12])
    assert [one["system"] for one in shown["systems"]] == ["web1", "web2"]
    assert [step["action"] for step in shown["systems"][0]["steps"]] == ["A1", "A2", "A3"]
    assert "id" in shown["systems"][0]["facts"]

    again = place.run("chain", "plan", name, "--on", "web*")
    assert digest in again.stdout, "the same plan has the same digest"

    other = write(place, CHAIN.replace("TEXT", "OTHER"), "other.yaml")
    assert place.run("chain", "edit", "planned", other).returncode == 0
    refused = place.run("chain", "run", "--plan", digest[:12])
    assert refused.returncode == exits.SURROUNDINGS, refused
    assert "[chain-plan-moved]" in refused.stderr and "version of chain 'planned' 1 → 2" in refused.stderr
    assert "--replan" in refused.stderr
    assert not (place.base / "ran").exists()

    anew = place.run("chain", "run", "--plan", digest[:12], "--replan", "--out", "json")
    assert anew.returncode == 0, anew
    plan = json.loads(anew.stdout)
    assert (plan["version"], plan["sha256"] != digest) == (2, True)
    done = place.run("chain", "run", "--plan", plan["sha256"])
    assert done.returncode == 0, done
    assert done.stdout.splitlines()[-1] == "2 systems: 2 succeeded", done
    assert (place.base / "ran").exists()
    run = place.data("chain", "runs", "planned")[0]["run"]
    assert place.data("chain", "show", run)["plan_sha256"] == plan["sha256"]
