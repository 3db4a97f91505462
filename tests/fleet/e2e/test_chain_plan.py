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

    text = f"place: {place.base / 'systems'}\n"
    more = "{% if grains['id'] == 'web2' %}\nword: Sibylla\n{% endif %}\n"
    place.fleet.write("controller/pillar/place.sls", text + more)
    refused = place.run("chain", "run", "--plan", plan["sha256"])
    assert refused.returncode == exits.SURROUNDINGS, refused
    assert "web2: its pillar has changed" in refused.stderr, refused
    assert "web1" not in refused.stderr and "Sibylla" not in refused.stderr, refused
    place.fleet.write("controller/pillar/place.sls", text)
    again = place.run("chain", "run", "--plan", plan["sha256"])
    assert again.returncode == 0, again


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
    kept = [path for path in (place.base / "controller").rglob("*") if path.is_file()]
    assert [path for path in kept if b"hunter22" in path.read_bytes()] == [], "database, broker, logs"


def test_46_a_retry_with_other_inputs_does_what_is_left_with_them(place: Place) -> None:
    text = RELEASE.replace("chain: release", "chain: again").replace("BASE/released", "BASE/again")
    failed = place.run(
        "chain", "run", write(place, text, "again.yaml"), "--on", "web1", "--input", "word=one"
    )
    assert failed.returncode == exits.FAILED, failed
    run = place.data("chain", "runs", "again")[0]["run"]
    said = place.run("chain", "retry", run, "--input", "number=5")
    assert "inputs: revision 1" in said.stdout, said
    watched = place.run("chain", "watch", run)
    assert watched.stdout.splitlines()[-1] == "1 system: 1 succeeded", watched
    assert (place.base / "again").read_text() == "one 4\n", "what was done is not done again"
    assert "revision 1: in force" in place.run("chain", "show", run).stdout
    steps = place.data("chain", "show", run, "web1")["steps"]
    assert [step["attempts"] for step in steps] == [1, 2]


def test_46_a_retry_with_other_inputs_on_one_machine(place: Place) -> None:
    text = RELEASE.replace("chain: release", "chain: alone").replace("BASE/released", "BASE/alone")
    name = write(place, text, "alone.yaml")
    failed = place.run("chain", "run", name, "--input", "word=one", "--input", "key=hunter22")
    assert failed.returncode == exits.FAILED, failed
    again = place.run("chain", "retry", "--input", "number=5")
    assert again.returncode == 0, again
    assert (place.base / "alone").read_text() == "one 4 hunter22\n"
    assert "hunter22" not in failed.stdout + again.stdout + place.run("chain", "status", "last").stdout


def test_a_wave_whose_systems_are_not_well_stops_the_next_one(place: Place) -> None:
    name = write(place, "chain: checked\nactions:\n  - {id: a, command: 'true'}\n", "checked.yaml")
    ways = ("--canary", "1", "--health", f"test -e {place.base}/well")
    done = place.run("chain", "run", name, "--on", "web*", *ways)
    assert done.returncode == exits.FAILED, done
    assert "the health check after wave 1 failed on 1 of 1 systems: web1 (exit code 1)" in done.stdout, done
    run = place.data("chain", "runs", "checked")[0]["run"]
    assert place.data("chain", "show", run)["status"] == "halted"
    (place.base / "well").touch()
    assert "run: halted → running" in place.run("chain", "resume", run, "--despite-failures").stdout
    watched = place.run("chain", "watch", run)
    assert watched.stdout.splitlines()[-1] == "2 systems: 2 succeeded", watched
    assert place.data("chain", "show", run)["status"] == "succeeded"
