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


RELEASE = """\
chain: release
inputs:
  word: {required: true, enum: [one, two]}
  number: {type: integer, default: 4}
  key: {secret: true}
actions:
  - {id: a, command: 'echo ${input:word} ${input:number} ${input:key} >> BASE/released'}
  - {id: b, command: 'test ${input:number} = 5'}
"""


def test_inputs_are_checked_with_their_lines_used_and_shown_without_secrets(place: Place) -> None:
    name = write(place, RELEASE, "release.yaml")
    wrong = place.run("chain", "run", name, "--on", "web1", "--input", "number=x")
    assert wrong.returncode == exits.COMPILE, wrong
    assert "release.yaml:3:3: input 'word' is missing" in wrong.stderr, wrong
    assert "release.yaml:4:3: input 'number': it must be an integer, not 'x'" in wrong.stderr, wrong
    given = ("--input", "word=two", "--input", "key=hunter22", "--input", "number=5")
    done = place.run("chain", "run", name, "--on", "web1", *given)
    assert done.returncode == 0, done
    assert (place.base / "released").read_text() == "two 5 hunter22\n"
    run = place.data("chain", "runs", "release")[0]["run"]
    shown = place.data("chain", "show", run)
    assert shown["inputs"] == {"word": "two", "number": 5, "key": "(concealed)"}
    everything = [
        place.run("chain", "show", run, *more).stdout for more in ((), ("web1",), ("--out", "json"))
    ]
    planned = place.run("chain", "plan", "release", "--on", "web1", *given)
    assert planned.returncode == 0, planned
    everything.append(planned.stdout)
    plan = place.data("chain", "plan", "list", "release")[0]["sha256"]
    everything.append(place.run("chain", "plan", "show", plan, "--out", "json").stdout)
    assert "hunter22" not in "".join(everything)
    refused = place.run("chain", "run", "--plan", plan)
    assert "the secret input 'key' is not kept in a plan" in refused.stderr, refused
    again = place.run("chain", "run", "--plan", plan, "--input", "key=hunter22")
    assert again.returncode == 0, again
    assert (place.base / "released").read_text() == "two 5 hunter22\n" * 2
