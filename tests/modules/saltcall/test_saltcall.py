"""Real runs of Salt without a master: every word, its sub states, and all that goes wrong."""

from __future__ import annotations

import os
import signal
import stat
import time
from typing import Any

import pytest
from tests import kit
from tests.modules.engine import CHANGED, FAILED, NOT_REACHED, OK, SKIPPED, WOULD, Engine, unhurried

from saltern.language.result import Outcome, Result


def apply(engine: Engine, text: str, *, test: bool = False, **args: object) -> Result:
    (engine.bench.tree / "main.sls").write_text(text)
    return engine.run("main", test=test, **args)


def write(engine: Engine) -> str:
    return f"{engine.base}/made:\n  file.managed:\n    - contents: one\n"


def test_test_mode_is_salts_own_and_the_second_run_has_nothing_to_do(engine: Engine) -> None:
    foreseen = apply(engine, write(engine), test=True)
    id_ = f"{engine.base}/made"
    assert (foreseen.outcome, foreseen.comment) == (Outcome.WOULD_CHANGE, "1 state: 1 would change")
    assert engine.words() == {id_: WOULD}
    assert not (engine.base / "made").exists()
    begun = time.time()
    done = apply(engine, write(engine))
    ended = time.time()
    assert (done.outcome, done.comment) == (Outcome.OK, "1 state: 1 changed")
    step = engine[id_]
    assert (step.state, step.fun, step.name, step.data) == ("file", "managed", id_, {"sls": "main"})
    assert step.timed
    assert step.took > 0
    assert begun - 0.001 <= step.started <= step.started + step.took <= ended + 0.001  # Salt rounds
    assert apply(engine, write(engine)).comment == "1 state: 1 ok"


EVERY_WORD = """
changes: {test.succeed_with_changes: []}
fine: {test.nop: []}
fails: {test.fail_without_changes: []}
held:
  test.nop:
    - require: [{test: fails}]
skipped:
  test.nop:
    - onchanges: [{test: fine}]
not wanted:
  test.nop:
    - unless: "true"
beside:
  cmd.run:
    - name: "true"
    - parallel: True
"""


def test_every_word_in_the_order_of_salt(engine: Engine) -> None:
    result = apply(engine, EVERY_WORD)
    assert engine.words() == {
        "changes": CHANGED,
        "fine": OK,
        "fails": FAILED,
        "held": NOT_REACHED,
        "skipped": SKIPPED,
        "not wanted": OK,
        "beside": CHANGED,
    }
    assert list(engine.words()) == ["changes", "fine", "fails", "held", "skipped", "not wanted", "beside"]
    assert engine["held"].comment == "One or more requisite failed: main.fails"
    assert (result.outcome, result.data["retcode"]) == (Outcome.FAILED, 2)
    assert result.data["totals"] == {"changed": 2, "ok": 2, "failed": 1, "not_reached": 1, "skipped": 1}
    assert "exit code 2 (a state failed)" in result.comment
    assert "failed: fails" in result.comment
    assert f"the log is {result.data['log']}" in result.comment
    assert "Summary for" in engine.log(result)


def test_what_failhard_kept_from_running_was_not_reached(engine: Engine) -> None:
    text = "a: {test.fail_without_changes: [{failhard: True}]}\nb: {test.nop: []}\nc: {test.nop: []}\n"
    apply(engine, text)
    assert engine.words() == {"a": FAILED, "b": NOT_REACHED, "c": NOT_REACHED}
    assert engine["b"].comment == "not reached"


STATES = '''
def steps(name):
    """Two steps of one name, one of them with a step of its own."""
    low = {"name": name, "state": "shop", "__id__": name, "fun": "step"}
    step = {"name": name, "changes": {}, "result": True, "comment": "", "duration": 1.5, "low": low}
    inner = dict(step, low=dict(low, __id__="inner", name="inner"), changes={"a": "b"})
    return {
        "name": name, "result": True, "comment": "", "changes": {},
        "sub_state_run": [step, dict(step, sub_state_run=[inner])],
    }


def nested(name):
    return {"name": name, "result": True, "comment": "", "changes": {"ret": __salt__["state.single"](
        "test.nop", name="of the inner run")}}
'''


def test_sub_states_of_a_salt_state_are_below_it(engine: Engine) -> None:
    """Salt itself shows them beside it under its name, and the last of equal tags only."""
    (engine.bench.tree / "_states").mkdir()
    (engine.bench.tree / "_states" / "shop.py").write_text(STATES)
    own = {"states_dirs": [str(engine.bench.tree / "_states")]}
    apply(engine, "open: {shop.steps: []}\nwithin: {shop.nested: []}\n", config=own)
    assert list(engine.words()) == ["open", "within"], engine.told
    first, second = engine["open"].sub
    assert (first.id, first.took, second.id, second.sub[0].id) == ("open", 1.5, "open", "inner")
    assert second.sub[0].changes == {"a": "b"}


def test_pillar_grains_environment_and_configuration_reach_salt(engine: Engine) -> None:
    (engine.base / "dev").mkdir()
    (engine.base / "dev" / "main.sls").write_text(
        "{{ saltenv }} {{ pillar.word }} {{ grains.colour }} {{ opts.id }} {{ opts.shop }}: {test.nop: []}\n"
    )
    engine.run(
        "some text",
        sls="main",
        saltenv="dev",
        file_roots={"dev": [str(engine.base / "dev")]},
        pillar={"word": "hello"},
        grains={"colour": "red"},
        config={"shop": "open", "id": "here"},
    )
    assert list(engine.words()) == ["dev hello red here open"]


def test_a_configuration_directory_is_what_it_begins_with(engine: Engine) -> None:
    own = engine.base / "etc"
    (own / "minion.d").mkdir(parents=True)
    (own / "minion").write_text(f"id: mine\nshop: open\ncachedir: {own}/cache\npki_dir: {own}/pki\n")
    (own / "minion.d" / "more.conf").write_text("more: yes\nfile_client: remote\n")
    apply(engine, "{{ grains.id }} {{ opts.shop }} {{ opts.more }}: {test.nop: []}\n", config_dir=str(own))
    assert list(engine.words()) == ["mine open True"]


def test_the_highstate_and_what_is_excluded(engine: Engine) -> None:
    for name in "ab":
        (engine.bench.tree / f"{name}.sls").write_text(f"{name}: {{test.nop: []}}\n")
    (engine.bench.tree / "top.sls").write_text("base: {'*': [a, b]}\n")
    result = engine.run("x", highstate=True, exclude=["b"])
    assert list(engine.words()) == ["a"]
    assert result.data["sls"] == "highstate"


def test_secrets_of_the_pillar_are_on_no_command_line_and_their_file_is_gone(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = engine.base / "tmp"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    text = (
        "look:\n  cmd.run:\n"
        "    - name: \"! cat /proc/*/cmdline | tr '\\\\0' ' ' | grep '[s]altcalls-own'\"\n"
        f"files: {{cmd.run: [{{name: 'stat -c %a {place}/*/call.json {place}/*'}}]}}\n"
    )
    apply(engine, text, pillar={"password": "saltcalls-own"})
    assert engine.words() == {"look": CHANGED, "files": CHANGED}, engine.told
    told = engine["files"].changes["stdout"]
    assert told == "600\n700"
    assert os.listdir(place) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a:\n  file.managed:\n  - source: [\n", "Rendering SLS 'base:main' failed"),
        ("{{ nothing.there }}\n", "Jinja variable 'nothing' is undefined"),
        ("include: [none]\n", "none"),
        ("a:\n  test.nop:\n    - require: [{test: none}]\n", "none"),
    ],
)
def test_files_that_do_not_compile_are_a_failure_that_says_why(engine: Engine, text: str, said: str) -> None:
    result = apply(engine, text)
    assert result.outcome is Outcome.FAILED
    assert said in result.comment + repr(engine.told)


def test_a_missing_program_says_what_to_install(engine: Engine) -> None:
    result = apply(engine, write(engine), bin_dir="/nonexistent")
    assert result.outcome is Outcome.FAILED
    assert "salt-call was not found in /nonexistent: install it (pip install salt" in result.comment


def test_huge_and_odd_output_is_cut_in_the_result_and_whole_in_the_log(engine: Engine) -> None:
    script = engine.base / "much.py"
    script.write_text("for _ in range(53): print('cafe ' * 200000)\n")
    text = (
        f"much: {{cmd.run: [{{name: 'python3 {script}'}}]}}\n"
        "odd:\n  cmd.run:\n    - name: printf 'caf\\351'\n"
    )
    result = apply(engine, text)
    assert engine.words() == {"much": CHANGED, "odd": CHANGED}
    assert len(repr(engine["much"])) < 200_000
    assert "characters left out" in str(engine["much"].changes)
    assert engine["odd"].changes["stdout"] == "caf\ufffd"
    assert os.path.getsize(str(result.data["log"])) > 50_000_000


def slow(engine: Engine) -> str:
    return (
        "quick: {test.nop: []}\n"
        f"slow: {{cmd.run: [{{name: 'echo $PPID >{engine.base}/begun; sleep 4000'}}]}}\n"
        "after: {test.nop: []}\n"
    )


def test_a_timeout_ends_salt_and_tells_what_had_begun(engine: Engine) -> None:
    timeout = unhurried(lambda: apply(engine, "quick: {test.nop: []}\n"), 8)
    result = apply(engine, slow(engine), timeout=timeout)
    assert "took longer than its timeout" in result.comment
    assert engine.words() == {"quick": OK, "slow": FAILED, "after": NOT_REACHED}
    assert "it had begun when Salt ended" in engine["slow"].comment


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_salt_that_is_interrupted_is_a_failure_that_says_so(engine: Engine, number: signal.Signals) -> None:
    (engine.bench.tree / "main.sls").write_text(slow(engine))
    result = engine.interrupted(engine.base / "begun", number, "main")
    assert result.outcome is Outcome.FAILED
    assert engine.words() == {"quick": OK, "slow": FAILED, "after": NOT_REACHED}
    assert "the log is" in result.comment


def test_a_state_is_reported_when_it_is_done(engine: Engine) -> None:
    apply(engine, f"a: {{test.nop: []}}\nb: {{cmd.run: [{{name: '{engine.waits()}'}}]}}\n")
    assert engine.words() == {"a": OK, "b": CHANGED}


def test_a_salt_that_tells_nothing_is_one_step_that_says_so(engine: Engine) -> None:
    fake = engine.base / "bin"
    fake.mkdir()
    (fake / "salt-call").write_text("#!/bin/sh\necho all is well\n")
    (fake / "salt-call").chmod(stat.S_IRWXU)
    result = apply(engine, write(engine), bin_dir=str(fake))
    assert result.outcome is Outcome.OK
    assert [step.name for step in engine.told] == ["unparsed output"]


def test_a_watch_on_it_fires_and_a_requisite_of_a_failed_one_is_held(engine: Engine) -> None:
    """As in a tree: what its states came to is what it came to."""
    (engine.bench.tree / "main.sls").write_text(EVERY_WORD)
    usual: dict[str, Any] = {key: value for key, value in engine.usual.items() if value}
    low = "".join(f"    - {key}: {value!r}\n" for key, value in usual.items())
    report = kit.run_sls(
        {
            "main.sls": f"it:\n  saltcall.apply:\n    - name: main\n{low}"
            "reacts:\n  test.succeed_with_changes:\n    - onchanges: [{saltcall: it}]\n"
            "needs:\n  test.nop:\n    - require: [{saltcall: it}]\n"
        }
    )
    outcomes = {answer.chunk.id: (answer.result.outcome, answer.result.ran) for answer in report.answers}
    assert outcomes["needs"] == (Outcome.FAILED, False)
    assert outcomes["held"] == (Outcome.FAILED, False)
    assert [answer.chunk.id for answer in report.answers][:3] == ["it", "changes", "fine"]
