"""Real runs of Terraform on this machine, with the provider that is built into it: ``terraform_data``."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest
from tests.modules.engine import CHANGED, FAILED, NOT_REACHED, OK, WOULD, Engine, unhurried

from saltern.language.result import Outcome, Result
from saltern.modules.states import terraform

WORD = """
variable "word" { default = "one" }
resource "terraform_data" "a" { input = var.word }
output "told" { value = terraform_data.a.output }
"""


def apply(engine: Engine, text: str, *, test: bool = False, **args: object) -> Result:
    (engine.base / "shop").mkdir(exist_ok=True)
    (engine.base / "shop" / "main.tf").write_text(text)
    return engine.run(str(engine.base / "shop"), test=test, **args)


def test_test_mode_is_a_plan_that_foretells_the_changes(engine: Engine) -> None:
    foreseen = apply(engine, WORD, test=True)
    would = engine["terraform_data.a"]
    assert foreseen.outcome is Outcome.WOULD_CHANGE
    assert engine.words() == {"terraform_data.a": WOULD, "output.told": WOULD}
    assert would.changes["input"] == {"old": None, "new": "one"}
    assert would.changes["id"] == {"old": None, "new": "(known after apply)"}
    assert foreseen.data["outputs"] == {"told": "(known after apply)"}
    assert not (engine.base / "shop" / "terraform.tfstate").exists()

    done = apply(engine, WORD)
    step = engine["terraform_data.a"]
    assert (done.outcome, done.comment) == (Outcome.OK, "2 results: 2 changed")
    assert engine.words() == {"terraform_data.a": CHANGED, "output.told": CHANGED}
    assert (step.fun, step.comment, step.timed) == ("create", "created", True)
    assert step.changes["input"] == would.changes["input"]
    assert step.changes["id"] != would.changes["id"]
    assert engine["output.told"].changes == {"value": {"old": None, "new": "one"}}
    assert (done.data["outputs"], done.data["program"]) == ({"told": "one"}, "terraform")

    again = apply(engine, WORD)
    assert (again.comment, engine.words()) == ("1 result: 1 ok", {"terraform_data.a": OK})
    assert again.data["outputs"] == {"told": "one"}
    assert apply(engine, WORD, test=True).outcome is Outcome.OK


def test_changed_replaced_destroyed(engine: Engine) -> None:
    text = WORD + 'resource "terraform_data" "b" { triggers_replace = [var.word] }\n'
    apply(engine, text)
    apply(engine, text, vars={"word": "two"})
    changed, replaced = engine["terraform_data.a"], engine["terraform_data.b"]
    assert (changed.fun, changed.comment) == ("update", "changed in place")
    assert changed.changes["input"] == {"old": "one", "new": "two"}
    assert (replaced.fun, replaced.comment) == ("replace", "replaced (replace because cannot update)")
    assert replaced.changes["triggers_replace"] == {"old": ["one"], "new": ["two"]}
    apply(engine, text, vars={"word": "two"}, replace=["terraform_data.a"])
    assert engine["terraform_data.a"].comment == "replaced (replace by request)"
    foreseen = apply(engine, text, vars={"word": "two"}, destroy=True, test=True)
    assert (foreseen.outcome, engine["terraform_data.a"].comment) == (
        Outcome.WOULD_CHANGE,
        "would be destroyed",
    )
    gone = apply(engine, text, vars={"word": "two"}, destroy=True)
    assert (gone.outcome, engine["terraform_data.a"].comment) == (Outcome.OK, "destroyed")
    assert engine["terraform_data.a"].changes["input"] == {"old": "two", "new": None}
    assert apply(engine, text, destroy=True).comment == "no results"


def test_a_removed_block_forgets(engine: Engine) -> None:
    apply(engine, WORD)
    text = "removed {\n from = terraform_data.a\n lifecycle { destroy = false }\n}\n"
    result = apply(engine, text)
    assert (result.outcome, engine["terraform_data.a"].comment[:9]) == (Outcome.OK, "forgotten")


FAILS = """
resource "terraform_data" "good" { input = 1 }
resource "terraform_data" "bad" {
  triggers_replace = ["%s"]
  depends_on = [terraform_data.good]
  provisioner "local-exec" { command = "echo oh no; exit %d" }
}
resource "terraform_data" "after" { input = terraform_data.bad.id }
"""


def test_a_failed_resource_and_what_is_not_reached(engine: Engine) -> None:
    result = apply(engine, FAILS % ("x", 3))
    assert (result.outcome, result.data["retcode"]) == (Outcome.FAILED, 1)
    assert engine.words() == {
        "terraform_data.good": CHANGED,
        "terraform_data.bad": FAILED,
        "terraform_data.after": NOT_REACHED,
    }
    bad = engine["terraform_data.bad"]
    assert "main.tf:6: local-exec provisioner error" in bad.comment
    assert "oh no" in str(bad.data["output"])
    assert "local-exec provisioner error" in result.comment
    assert str(result.data["log"]) in result.comment


def test_a_replacement_that_stops_half_way_says_so(engine: Engine) -> None:
    apply(engine, FAILS % ("x", 0))
    apply(engine, FAILS % ("y", 3))
    assert "it was destroyed, and not created again" in engine["terraform_data.bad"].comment


def test_what_is_sensitive_stays_hidden_and_so_do_its_copies(engine: Engine) -> None:
    text = """
    variable "secret" { sensitive = true }
    resource "terraform_data" "a" { input = var.secret }
    resource "terraform_data" "b" {
      input = { of = { someone = [var.secret, "plain"] } }
      provisioner "local-exec" { command = "echo ${var.secret}" }
    }
    output "hidden" {
      value     = var.secret
      sensitive = true
    }
    """
    told = []
    for word in ("hunter2", "hunter3"):
        result = apply(engine, text, vars={"secret": word})
        assert result.outcome is Outcome.OK
        assert result.data["outputs"] == {"hidden": "(sensitive)"}
        told += [f"{result}{engine.told}", *(Path(log).read_text() for log in result.data["logs"])]  # type: ignore[attr-defined]
    assert engine["terraform_data.a"].changes["input"] == {"old": "(sensitive)", "new": "(sensitive)"}
    assert not [text for text in told if "hunter" in text]


def test_a_resource_is_reported_while_terraform_runs(engine: Engine) -> None:
    text = """
    resource "terraform_data" "first" {}
    resource "terraform_data" "second" {
      depends_on = [terraform_data.first]
      provisioner "local-exec" { command = "WAITS" }
    }
    """
    assert apply(engine, text.replace("WAITS", engine.waits())).outcome is Outcome.OK


def test_modules_counts_and_targets(engine: Engine) -> None:
    inner = engine.base / "shop" / "inner"
    inner.mkdir(parents=True)
    (inner / "main.tf").write_text('resource "terraform_data" "x" { count = 2 }')
    text = WORD + 'module "m" { source = "./inner" }'
    apply(engine, text, targets=["module.m"])
    assert engine.words() == {
        "module.m.terraform_data.x[0]": CHANGED,
        "module.m.terraform_data.x[1]": CHANGED,
    }


def test_workspaces_are_apart(engine: Engine) -> None:
    apply(engine, WORD)
    apply(engine, WORD, workspace="other")
    assert engine["terraform_data.a"].comment == "created"


def test_files_of_variables_and_variables_that_are_missing(engine: Engine) -> None:
    text = 'variable "word" {}\nresource "terraform_data" "a" { input = var.word }'
    missing = apply(engine, text)
    assert (missing.outcome, engine.told) == (Outcome.FAILED, [])
    assert "main.tf:1: No value for required variable" in missing.comment
    (engine.base / "shop" / "live.tfvars").write_text('word = "live"')
    apply(engine, text, var_files=["live.tfvars"])
    assert engine["terraform_data.a"].changes["input"] == {"old": None, "new": "live"}
    assert "no file of variables is at" in apply(engine, text, var_files=["nowhere"]).comment


def test_a_configuration_that_cannot_be_read(engine: Engine) -> None:
    result = apply(engine, 'resource "terraform_data" {')
    assert (result.outcome, engine.told) == (Outcome.FAILED, [])
    assert "terraform init ended with exit code 1" in result.comment
    assert "main.tf line 1" in result.comment
    wrong = apply(engine, 'resource "terraform_data" "a" { inptu = 1 }')
    assert "terraform plan ended with exit code 1" in wrong.comment
    assert "main.tf:1: Unsupported argument" in wrong.comment


def test_much_output_and_bytes_that_are_no_text(engine: Engine) -> None:
    (engine.base / "much.py").write_text(
        "import sys\nsys.stdout.buffer.write(b'a\\xffb\\n' + (b'x' * 999 + b'\\n') * 22_000)\n"
    )
    text = f"""
    resource "terraform_data" "much" {{
      provisioner "local-exec" {{ command = "/usr/bin/python3 {engine.base}/much.py" }}
    }}
    """
    result = apply(engine, text)
    assert (result.outcome, result.comment) == (Outcome.OK, "1 result: 1 changed")
    assert Path(str(result.data["log"])).stat().st_size > 50_000_000
    assert len(str(engine["terraform_data.much"].data["output"])) <= 2000


SLOW = """
resource "terraform_data" "slow" {
  provisioner "local-exec" { command = "echo $PPID > %s/flag; sleep %d" }
}
resource "terraform_data" "after" { input = terraform_data.slow.id }
"""


def test_a_run_that_takes_too_long_is_ended(engine: Engine) -> None:
    timeout = unhurried(lambda: apply(engine, WORD), 8)
    shutil.rmtree(engine.base / "shop")
    result = apply(engine, SLOW % (engine.base, 4000), timeout=timeout)
    assert "terraform apply took longer than its timeout" in result.comment
    assert engine.words() == {"terraform_data.slow": FAILED, "terraform_data.after": NOT_REACHED}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_says_what_was_not_reached(engine: Engine, number: signal.Signals) -> None:
    (engine.base / "shop").mkdir()
    (engine.base / "shop" / "main.tf").write_text(SLOW % (engine.base, 3))
    result = engine.interrupted(engine.base / "flag", number, str(engine.base / "shop"), steps=0)
    assert result.outcome is Outcome.FAILED
    assert engine.words()["terraform_data.after"] == NOT_REACHED


def test_the_program_or_the_directory_is_not_there(engine: Engine, tmp_path: Path) -> None:
    result = apply(engine, WORD, bin_dir=str(tmp_path))
    assert "terraform was not found in" in result.comment
    assert "or OpenTofu from opentofu.org" in result.comment
    assert engine.run("/nowhere").comment == "no directory is at /nowhere"
    assert engine.run("/nowhere", test=True).outcome is Outcome.WOULD_CHANGE
    assert engine.run("shop").comment == "shop is not the absolute path of a directory"


TOFU = """#!/usr/bin/env python3
import json, sys

def tell(kind, **more):
    print(json.dumps({"@level": "info", "@module": "tofu.ui", "@timestamp": STAMP, "type": kind, **more}))

STAMP = "2026-01-01T12:00:00.000000+00:00"
RESOURCE = {"addr": "tofu_thing.a", "module": "", "resource_type": "tofu_thing"}
HOOK = {"resource": RESOURCE, "action": "create"}
CHANGE = {"actions": ["create"], "before": None, "after": {"word": "one"}, "after_unknown": {"id": True}}
command = sys.argv[1]
if command == "show":
    resource = {"address": "tofu_thing.a", "type": "tofu_thing", "change": CHANGE}
    print(json.dumps({"resource_changes": [resource]}))
elif command != "init":
    tell("version", tofu="1.9.0", ui="1.2")
    tell("planned_change", change=HOOK)
    if command == "apply":
        tell("apply_start", hook=HOOK)
        tell("apply_complete", hook={**HOOK, "id_key": "id", "id_value": "x1", "elapsed_seconds": 0})
        tell("outputs", outputs={"plain": {"sensitive": False, "value": 1}, "hidden": {"sensitive": True}})
sys.exit(2 if command == "plan" else 0)
"""


def test_opentofu_is_taken_where_there_is_no_terraform(tmp_path: Path) -> None:
    """A stand-in that speaks as OpenTofu's documentation of ``-json`` says; it was not recorded."""
    place = tmp_path / "bin"
    place.mkdir()
    (place / "tofu").write_text(TOFU)
    (place / "tofu").chmod(0o755)
    engine = Engine(tmp_path, terraform, "apply", bin_dir=str(place))
    result = apply(engine, "")
    assert (result.outcome, result.data["program"]) == (Outcome.OK, "tofu")
    assert result.data["outputs"] == {"plain": 1, "hidden": "(sensitive)"}
    assert engine["tofu_thing.a"].changes == {
        "word": {"old": None, "new": "one"},
        "id": {"old": None, "new": "x1"},
    }
    missing = apply(engine, "", program="terraform")
    assert "terraform was not found in" in missing.comment


def test_a_plan_that_cannot_be_read_is_not_applied(tmp_path: Path) -> None:
    place = tmp_path / "bin"
    place.mkdir()
    (place / "tofu").write_text(f"#!/bin/sh\necho $1 >> {tmp_path}/calls\necho nonsense\n")
    (place / "tofu").chmod(0o755)
    engine = Engine(tmp_path, terraform, "apply", bin_dir=str(place))
    result = apply(engine, "")
    assert (result.outcome, result.comment) == (Outcome.FAILED, "tofu show: its plan could not be read")
    assert engine.told[0].name == "unparsed output"
    assert (tmp_path / "calls").read_text().split() == ["init", "plan", "show"]
