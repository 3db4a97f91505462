"""A state function may do whatever it likes: its own answer is a failure, and the others run."""

from __future__ import annotations

import base64
import os
import random
import re
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from tests import kit

from saltern.language.diagnostics import SalternError
from saltern.language.result import Result, ok
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function, state
from saltern.modules.api.registry import STATES, Registry, schema


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def raises(ctx: Context, name: str, **_: object) -> Result:
    raise RuntimeError("boom")


def exits(ctx: Context, name: str, **_: object) -> Result:
    sys.exit(3)


def unprintable(ctx: Context, name: str, **_: object) -> Result:
    raise Unprintable


def garbage(ctx: Context, name: str, **_: object) -> Any:
    return {"result": True}


def nothing(ctx: Context, name: str, **_: object) -> Any:
    return None


def endless(ctx: Context, name: str, **_: object) -> Result:
    return endless(ctx, name)


def hungry(ctx: Context, name: str, **_: object) -> Result:
    raise MemoryError


def dies(ctx: Context, name: str, **_: object) -> Result:
    os._exit(7)


def killed(ctx: Context, name: str, **_: object) -> Result:
    os.kill(os.getpid(), signal.SIGKILL)
    return ok("")


def unsendable(ctx: Context, name: str, **_: object) -> Result:
    return ok("", changes={"a": lambda: None})


def leaves(ctx: Context, *_: object) -> object:
    sys.exit(4)


BODIES = (raises, exits, unprintable, garbage, nothing, endless, hungry, dies, killed, unsendable)
STOPPING = [body.__name__ for body in BODIES[:7]]


def registry() -> Registry:
    states, functions = ModuleType("odd"), ModuleType("oddly")
    for body in BODIES:
        setattr(states, body.__name__, state(body))  # type: ignore[arg-type]
    functions.leaves = function(leaves)  # type: ignore[attr-defined]
    return Registry(states={"odd": states}, functions={"oddly": functions})


@pytest.mark.parametrize("name", STOPPING)
@pytest.mark.parametrize("parallel", ["false", "true"], ids=["alone", "parallel"])
def test_a_misbehaving_state_fails_and_the_others_run(name: str, parallel: str) -> None:
    text = f"a: test.nop\nb: {{odd.{name}: [parallel: {parallel}]}}\nc: test.nop\n"
    text += "d: {test.nop: [require: [{odd: b}]]}\n"
    report = kit.run_sls({"main.sls": text}, registry=registry())
    outcomes = {answer.chunk.id: answer.result.outcome.name for answer in report.answers}
    assert outcomes == {"a": "OK", "b": "FAILED", "c": "OK", "d": "FAILED"}
    comment = next(answer.result.comment for answer in report.answers if answer.chunk.id == "b")
    assert comment
    assert "Traceback" not in comment


@pytest.mark.parametrize("name", ["dies", "killed", "unsendable"])
def test_a_process_that_ends_without_an_answer_is_a_failure(name: str) -> None:
    report = kit.run_sls(
        {"main.sls": f"b: {{odd.{name}: [parallel: true]}}\nc: test.nop\n"}, registry=registry()
    )
    assert {answer.chunk.id: answer.result.outcome.name for answer in report.answers} == {
        "b": "FAILED",
        "c": "OK",
    }


@pytest.mark.parametrize(
    "text",
    [
        "b: {test.nop: [onlyif: [{fun: oddly.leaves}]]}\nc: test.nop\n",
        "b: {test.nop: [unless: [{fun: oddly.leaves}]]}\nc: test.nop\n",
        'b: {test.nop: [x: "__slot__:salt:oddly.leaves()"]}\nc: test.nop\n',
    ],
    ids=["onlyif", "unless", "slot"],
)
def test_a_function_that_would_leave_fails_only_the_state_that_asked(text: str) -> None:
    report = kit.run_sls({"main.sls": text}, registry=registry())
    assert {answer.chunk.id: answer.result.outcome.name for answer in report.answers} == {
        "b": "FAILED",
        "c": "OK",
    }


def test_a_function_that_would_leave_a_template_is_reported_at_its_line() -> None:
    (problem,) = kit.errors({"main.sls": "\n{{ salt['oddly.leaves']() }}: test.nop\n"}, registry=registry())
    assert problem.startswith("main.sls:2: ")


# -- the modules that come with it ------------------------------------------------------------------

ODD: list[object] = [
    *(None, True, 0, -1, 3.5, float("nan"), 10**18),
    *(
        "",
        "x",
        "/proc/nosuch/b",
        "salt://x",
        "salt://",
        "a\0b",
        "\n",
        "é",
        "999",
        "nosuchuser",
        "md5=abc",
        "jinja",
    ),
    *("*", "[", "(", "{{ x }}", "\\", "%s", b"x"),
    *([], ["a"], [1], [None], [{}], [{"a": 1}], {}, {"a": 1}, {1: 2}, {"a": {"b": 1}}),
]
# They ask a slow program each time.
SLOW = frozenset(
    {"ansible", "chef", "idem", "npm", "pip", "pkg", "puppet", "pyinfra", "saltcall", "selinux", "terraform"}
)
FEW = 12
# Where their programs write, in test mode, too.
WRITTEN = {("pip", "log"), ("pip", "cache_dir"), ("puppet", "confdir"), ("puppet", "vardir")}
PYTHONS_WORDS = re.compile(r"\b\w+Error: |NoneType|object has no|object is not|Traceback")


@pytest.mark.parametrize("module", STATES)
def test_no_state_answers_odd_arguments_in_pythons_words(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Test mode: nothing is changed, whatever the arguments mean; but engines keep files where they run."""
    monkeypatch.chdir(tmp_path)
    choose = random.Random(module)
    spoken: set[str] = set()
    (tmp_path / "file").write_text("hello\nworld\n")
    for name, parameter, value in oddities(module, choose):
        place = choose.choice([tmp_path / "file", tmp_path / "new", tmp_path])
        args = [{"name": str(place)}, {parameter: value}]
        packed = base64.b64encode(msgspec.msgpack.encode({"x": {f"{module}.{name}": args}})).decode()
        try:
            report = kit.run_sls({"main.sls": f"#!msgpack\n{packed}\n"}, test=True)
        except SalternError:
            continue
        comment = report.answers[0].result.comment
        if PYTHONS_WORDS.search(comment):
            spoken.add(f"{module}.{name} {parameter}: {value!r} -> {comment}")
    assert not spoken, "\n".join(sorted(spoken))


def oddities(module: str, choose: random.Random) -> list[tuple[str, str, object]]:
    """Every argument of every function with two odd values; of slow ones, some."""
    known = Registry()
    found: list[tuple[str, str, object]] = []
    for name in known.members("states", module):
        wanted = known.state(module, name)
        assert wanted is not None
        for parameter in sorted(schema(wanted).params):
            if (module, parameter) not in WRITTEN:
                found += [(name, parameter, value) for value in choose.sample(ODD, 2)]
    return choose.sample(found, min(len(found), FEW)) if module in SLOW else found
