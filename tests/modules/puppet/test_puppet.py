"""Real runs of Puppet on this machine: every word, and all that goes wrong."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from tests.modules.engine import CHANGED, FAILED, NOT_REACHED, OK, SKIPPED, WOULD, Engine, unhurried

from saltern.language.result import Outcome, Result

WRITE = """
file { '${base}/made': content => "new\\n" }
"""


def apply(engine: Engine, text: str, *, test: bool = False, **args: object) -> Result:
    file = engine.base / "site.pp"
    file.write_text(text.replace("${base}", str(engine.base)))
    return engine.run(str(file), test=test, **args)


def ref(engine: Engine, name: str) -> str:
    return f"File[{engine.base}/{name}]"


def test_test_mode_is_noop_and_foretells_the_changes(engine: Engine) -> None:
    made = engine.base / "made"
    made.write_text("old\n")
    foreseen = apply(engine, WRITE, test=True)
    would = engine[ref(engine, "made")]
    assert (foreseen.outcome, would.outcome) == (Outcome.WOULD_CHANGE, Outcome.WOULD_CHANGE)
    assert foreseen.comment == "1 resource: 1 would change"
    assert made.read_text() == "old\n"
    done = apply(engine, WRITE)
    step = engine[ref(engine, "made")]
    assert (done.outcome, done.comment, made.read_text()) == (Outcome.OK, "1 resource: 1 changed", "new\n")
    assert step.changes["content"] == would.changes["content"]
    assert "-old" in str(would.changes["diff"])
    assert "+new" in str(step.changes["diff"])
    assert (step.state, step.fun, step.name, step.timed) == ("puppet", "file", str(made), True)
    assert (step.data["file"], step.data["line"]) == (str(engine.base / "site.pp"), 2)
    assert apply(engine, WRITE).comment == "1 resource: 1 ok"
    assert apply(engine, WRITE, test=True).outcome is Outcome.OK


EVERY_WORD = """
file { '${base}/made': content => "one\\n" }
file { '${base}/here': ensure => file }
exec { 'refreshed': command => '/bin/true', refreshonly => true, subscribe => File['${base}/made'] }
exec { 'not refreshed': command => '/bin/true', refreshonly => true, subscribe => File['${base}/here'] }
exec { 'guarded': command => '/bin/false', unless => '/bin/true' }
exec { 'fails': command => "/bin/sh -c 'echo oh no >&2; exit 3'" }
file { '${base}/after': content => 'x', require => Exec['fails'] }
exec { 'bad refresh': command => '/bin/false', refreshonly => true, subscribe => File['${base}/made'] }
file { '${base}/only told': ensure => file, noop => true }
class inner { notify { 'within': } }
include inner
"""


def test_every_word(engine: Engine) -> None:
    (engine.base / "here").write_text("")
    result = apply(engine, EVERY_WORD)
    assert engine.words() == {
        ref(engine, "made"): CHANGED,
        ref(engine, "here"): OK,
        "Exec[refreshed]": CHANGED,
        "Exec[not refreshed]": OK,
        "Exec[guarded]": OK,
        "Exec[fails]": FAILED,
        ref(engine, "after"): NOT_REACHED,
        "Exec[bad refresh]": FAILED,
        ref(engine, "only told"): WOULD,
        "Notify[within]": CHANGED,
    }
    assert (result.outcome, result.data["retcode"]) == (Outcome.FAILED, 6)
    assert result.data["totals"] == {"changed": 3, "ok": 3, "failed": 2, "not_reached": 1, "would_change": 1}
    assert "some resources were changed and others failed" in result.comment
    assert "failed: Exec[fails], Exec[bad refresh]" in result.comment
    assert str(result.data["log"]) in result.comment
    assert "oh no" in engine["Exec[fails]"].comment
    assert engine["Exec[refreshed]"].changes == {"refresh": "Triggered 'refresh' from 1 event"}
    assert engine[ref(engine, "after")].comment == "not reached: Exec[fails] failed"
    assert engine["Notify[within]"].data["path"] == ["Stage[main]", "Inner", "Notify[within]"]


def test_a_refresh_is_foretold(engine: Engine) -> None:
    refreshed = "exec { 'x': command => '/bin/true', refreshonly => true, subscribe => File['${base}/made'] }"
    apply(engine, WRITE + refreshed, test=True)
    assert engine.words() == {ref(engine, "made"): WOULD, "Exec[x]": WOULD}
    assert engine["Exec[x]"].changes == {"refresh": "Would have triggered 'refresh' from 1 event"}
    apply(engine, WRITE + refreshed)
    assert engine.words() == {ref(engine, "made"): CHANGED, "Exec[x]": CHANGED}


def test_resources_left_out_by_tags_are_skipped(engine: Engine) -> None:
    result = apply(engine, "notify { 'a': tag => 'x' }\nnotify { 'b': }", tags=["x"])
    assert engine.words() == {"Notify[a]": CHANGED, "Notify[b]": SKIPPED}
    assert result.comment == "2 resources: 1 changed, 1 skipped"


def test_a_resource_is_reported_while_puppet_runs(engine: Engine) -> None:
    apply(
        engine, f"notify {{ 'first': }} -> exec {{ 'waits': command => \"/bin/sh -c '{engine.waits()}'\" }}"
    )
    assert engine.words() == {"Notify[first]": CHANGED, "Exec[waits]": CHANGED}


def test_what_is_sensitive_stays_hidden(engine: Engine) -> None:
    text = """
    file { '${base}/made': content => Sensitive("hunter2\\n") }
    exec { 'tell': command => Sensitive("/bin/sh -c 'exit 3; hunter2'") }
    """
    (engine.base / "made").write_text("hunter1\n")
    result = apply(engine, text)
    step = engine[ref(engine, "made")]
    assert (engine.base / "made").read_text() == "hunter2\n"
    assert step.changes["content"] == {"old": "[redacted]", "new": "[redacted]"}
    assert "hunter" not in f"{result}{engine.told}{engine.log(result)}"


def test_code_facts_and_settings(engine: Engine) -> None:
    code = "notify { \"x\": message => \"${facts['shop']} ${facts['open']}\" }"
    result = engine.run("x", code=code, facts={"shop": "corner", "open": True}, settings={"strict": "error"})
    assert (result.outcome, result.data["manifest"]) == (Outcome.OK, "")
    assert engine["Notify[x]"].changes["message"] == {"old": "absent", "new": "corner true"}
    odd = engine.run("x", code="", facts={"shop": ["a"]})
    assert odd.comment == "facts must be texts or numbers: shop; put others into Hiera"


def test_modules_and_hiera(engine: Engine) -> None:
    module = engine.base / "modules" / "shop" / "manifests"
    module.mkdir(parents=True)
    (module / "init.pp").write_text("class shop(String $word) { notify { $word: } }")
    hiera = engine.base / "hiera.yaml"
    hiera.write_text(
        "version: 5\nhierarchy: [{name: all, path: all.yaml, datadir: data, data_hash: yaml_data}]\n"
    )
    (engine.base / "data").mkdir()
    (engine.base / "data" / "all.yaml").write_text("shop::word: found\n")
    apply(engine, "include shop", modulepath=[str(module.parents[1])], hiera_config=str(hiera))
    assert engine.words() == {"Notify[found]": CHANGED}


def test_a_manifest_that_does_not_compile(engine: Engine) -> None:
    result = apply(engine, "file { '/x': content => nonsense( }")
    assert (result.outcome, engine.told, result.data["retcode"]) == (Outcome.FAILED, [], 1)
    assert "the manifest cannot be compiled" in result.comment
    assert "Syntax error at '}'" in result.comment
    assert f"{engine.base}/site.pp, line: 1" in result.comment
    unknown = apply(engine, "nosuch { 'x': }")
    assert "Unknown resource type: 'nosuch'" in unknown.comment


def test_a_dependency_cycle_fails_its_resources(engine: Engine) -> None:
    result = apply(engine, "notify { 'a': require => Notify['b'] }\nnotify { 'b': require => Notify['a'] }")
    assert result.outcome is Outcome.FAILED
    assert {step.outcome for step in engine.told} == {Outcome.FAILED}
    assert "dependency cycle" in engine["Notify[a]"].comment


def test_much_output_and_bytes_that_are_no_text(engine: Engine) -> None:
    (engine.base / "much").write_text("#!/usr/bin/python3\nprint(('x' * 99_999 + chr(10)) * 600)\n")
    (engine.base / "bytes").write_text("#!/bin/sh\nprintf 'a\\377b'\n")
    for name in ("much", "bytes"):
        (engine.base / name).chmod(0o755)
    text = "exec { ['${base}/much', '${base}/bytes']: logoutput => true }"
    result = apply(engine, text)
    much, unreadable = (engine[f"Exec[{engine.base}/{name}]"] for name in ("much", "bytes"))
    assert much.outcome is Outcome.OK
    assert os.path.getsize(str(result.data["log"])) > 50_000_000
    assert unreadable.outcome is Outcome.FAILED  # Puppet itself cannot read it
    assert "invalid byte sequence" in unreadable.comment


SLOW = """
notify { 'before': }
-> exec { 'slow': command => "/bin/sh -c 'echo \\$PPID > ${base}/flag; exec sleep 4000'" }
-> notify { 'after': }
"""


def test_a_run_that_takes_too_long_is_ended(engine: Engine) -> None:
    timeout = unhurried(lambda: apply(engine, "notify { 'x': }"), 20)
    result = apply(engine, SLOW, timeout=timeout)
    assert result.outcome is Outcome.FAILED
    assert "took longer than its timeout" in result.comment
    assert engine.words() == {"Notify[before]": CHANGED, "Exec[slow]": FAILED, "Notify[after]": NOT_REACHED}
    assert "how far it got is unknown" in engine["Exec[slow]"].comment


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_says_what_was_not_reached(engine: Engine, number: signal.Signals) -> None:
    file = engine.base / "site.pp"
    file.write_text(SLOW.replace("${base}", str(engine.base)).replace("sleep 4000", "sleep 3"))
    result = engine.interrupted(engine.base / "flag", number, str(file))
    words = engine.words()
    assert result.outcome is Outcome.FAILED
    assert (words["Notify[before]"], words["Notify[after]"]) == (CHANGED, NOT_REACHED)


def test_the_program_is_not_there(engine: Engine, tmp_path: Path) -> None:
    result = apply(engine, WRITE, bin_dir=str(tmp_path))
    assert result.outcome is Outcome.FAILED
    assert "puppet was not found in" in result.comment
    assert "install it (the Debian package puppet-agent" in result.comment


def test_a_wrapper_that_forbids_the_listener_is_passed_by(engine: Engine) -> None:
    """The layout of Puppet's own packages: bin/puppet is a link to a script beside the real program."""
    real = engine.base / "opt" / "puppet" / "bin"
    real.mkdir(parents=True)
    (real / "wrapper.sh").write_text("#!/bin/sh\nexit 7\n")
    (real / "wrapper.sh").chmod(0o755)
    os.symlink(f"{engine.usual['bin_dir']}/puppet", real / "puppet")
    outside = engine.base / "opt" / "bin"
    outside.mkdir()
    os.symlink(real / "wrapper.sh", outside / "puppet")
    assert apply(engine, WRITE, bin_dir=str(outside)).comment == "1 resource: 1 changed"


def test_bad_arguments(engine: Engine) -> None:
    assert engine.run("/nowhere/x.pp").comment == "no manifest is at /nowhere/x.pp"
    assert engine.run("salt://no.pp").comment == "salt://no.pp is not in the environment 'base'"
    assert "is not an absolute path" in engine.run("x.pp").comment
    assert engine.run("x", catalog="/nowhere/c.json").comment == "no catalog is at /nowhere/c.json"
    assert (
        apply(engine, WRITE, settings={"strict": []}).comment
        == "settings: strict is neither text nor a number"
    )


def test_what_puppet_runs_has_the_variables_of_before(engine: Engine) -> None:
    text = (
        """exec { 'env': command => "/usr/bin/env | /bin/grep -c RUBY", provider => shell, returns => 1 }"""
    )
    apply(engine, text)
    assert engine["Exec[env]"].outcome is Outcome.OK
