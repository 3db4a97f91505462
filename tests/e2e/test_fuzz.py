"""Whatever is read, only errors of ours are raised: random data, text and bytes in every place."""

from __future__ import annotations

import base64
import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.e2e.command import forked
from tests.kit import ScriptedCaller

from saltern.cli.values import yaml_value
from saltern.config.load import load
from saltern.config.settings import Settings
from saltern.engine.apply import apply
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.engine.show import show_high, show_low, show_order, show_top
from saltern.language.diagnostics import Diagnostics, SalternError
from saltern.language.requisites import REQUISITES
from saltern.render.pipe import RENDERERS
from saltern.runtime.slots import PREFIX, BadSlot
from saltern.runtime.slots import parse as parse_slot
from saltern.targeting.match import MATCHERS, Subject, matches
from saltern.targeting.problem import BadTarget

FEW = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))

ENGINE = [*REQUISITES, *(f"{name}_in" for name in REQUISITES)]
OPTIONS = [
    "order", "retry", "onlyif", "unless", "creates", "check_cmd", "parallel", "umask", "saltenv",
    "name", "names",
    "failhard", "no_log", "fire_event", "runas", "aggregate", "prerequired", "reload_grains", "__env__",
    "__sls__",
    "onfail_stop", "__id__", "state", "fun", "use", "listen", "sls", "id", "fun", "args", "attempts",
    "until", "interval",
]  # fmt: skip
WORDS = [
    "a", "b", "main", "test", "nop", "test.nop", "test.succeed_with_changes", "include", "extend",
    "exclude", "file",
    "cmd.run", "first", "last", "*", "[", "..", "__slot__:salt:test.echo(x)", "", " ", "\n", "\0", "é",
    "\ud800", "base", ".",
]  # fmt: skip
words = st.one_of(st.sampled_from(WORDS + OPTIONS + ENGINE), st.text(max_size=5))
scalars = st.one_of(
    words,
    words,
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from([10**30, -(10**400), 10**4200]),
    st.binary(max_size=3),
)
keys = st.one_of(words, words, words, words, scalars)
values: st.SearchStrategy[object] = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=12,
)
arguments = st.lists(
    st.one_of(
        st.dictionaries(st.sampled_from(OPTIONS + ENGINE), values, min_size=1, max_size=1),
        st.dictionaries(
            st.sampled_from(ENGINE),
            st.lists(
                st.dictionaries(
                    st.sampled_from(["test", "id", "sls", "file"]), words, min_size=1, max_size=1
                ),
                max_size=2,
            ),
            min_size=1,
            max_size=1,
        ),
        values,
    ),
    max_size=4,
)
bodies = st.one_of(
    st.dictionaries(
        st.sampled_from(["test.nop", "test.succeed_with_changes", "test"]), arguments, min_size=1, max_size=2
    ),
    values,
)
sections = {
    "include": st.one_of(st.lists(values, max_size=3), values),
    "extend": st.one_of(st.dictionaries(words, bodies, max_size=2), values),
    "exclude": st.one_of(
        st.lists(st.dictionaries(st.sampled_from(["id", "sls", "x"]), values, max_size=2), max_size=2), values
    ),
}
documents = st.builds(
    lambda states, more: {**states, **more},
    st.dictionaries(st.one_of(st.sampled_from(["a", "b", "main"]), keys), bodies, max_size=3),
    st.fixed_dictionaries({}, optional=sections),
)
anything = st.one_of(documents, documents, documents, values)


@contextlib.contextmanager
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="saltern-fuzz-") as name:
        (Path(name) / "states").mkdir()
        (Path(name) / "pillar").mkdir()
        yield Path(name)


def session(base: Path) -> Session:
    return Session(
        Settings(
            id="here",
            file_roots={"base": [str(base / "states")]},
            pillar_roots={"base": [str(base / "pillar")]},
            grains_file=os.devnull,
            cachedir=str(base / "cache"),
            render_time_limit=5,
        ),
        grains={"os": "Debian"},
    )


def compile_all(base: Path, *names: str) -> None:
    """Every view of the tree; a problem is told or there is none, and its text can be made."""
    for view in (show_low, show_high, show_order, show_top):
        found = Diagnostics()
        try:
            view(session(base), Request(sls=() if view is show_top else names), found)
            found.check()
        except SalternError as problem:
            assert problem.diagnostics
            for one in problem.diagnostics:
                assert str(one)
                assert one.code


@MANY
@given(anything)
def test_data_of_any_shape_compiles_or_is_reported(data: object) -> None:
    with place() as base:
        text = base64.b64encode(_packed(data)).decode()
        (base / "states" / "main.sls").write_text(f"#!msgpack\n{text}\n")
        compile_all(base, "main")


def _packed(data: object) -> bytes:
    try:
        return msgspec.msgpack.encode(data)
    except (UnicodeEncodeError, OverflowError, TypeError):
        return msgspec.msgpack.encode(str(data).encode("utf-8", "replace").decode())


@FEW
@given(anything)
def test_data_of_any_shape_runs_in_test_mode_without_a_crash(data: object) -> None:
    """Run, too: what compiles must give one answer for each state."""
    with place() as base:
        (base / "states" / "main.sls").write_text(
            f"#!msgpack\n{base64.b64encode(_packed(_harmless(data))).decode()}\n"
        )
        try:
            report = apply(session(base), Request(sls=("main",)))
        except SalternError:
            return
        assert all(answer.result is not None for answer in report.answers)


def _harmless(data: object) -> object:
    """Without what would wait, run programs or become somebody else."""
    away = ("cmd.run", "retry", "check_cmd", "onlyif", "unless", "runas", "interval", "parallel", "umask")
    if isinstance(data, dict):
        return {key: _harmless(value) for key, value in data.items() if key not in away}
    return [_harmless(item) for item in data] if isinstance(data, list) else data


@FEW
@given(anything)
def test_yaml_of_any_shape_compiles_or_is_reported(data: object) -> None:
    with place() as base:
        text = yaml.safe_dump(data, allow_unicode=True, default_flow_style=None)
        (base / "states" / "main.sls").write_bytes(b"#!yaml\n" + text.encode("utf-8", "replace"))
        compile_all(base, "main")


PIECES = [
    "a:", "  test.nop: []", "- ", "  ", "\n", "\n", "{{ ", " }}", "{% if x %}", "{% endif %}",
    "{% for i in [1,2] %}", "{% endfor %}",
    "{% set x = 1 %}", "x", "pillar.x", "salt['test.ping']()", "&a ", "*a", "<<: ", "[", "]", "{", "}",
    "|", ">", "'", '"', ":", "#!yaml\n",
    "#!jinja|yaml\n", "#!py\n", "#!json\n", "!!int ", "!!binary ", "? ", "---\n", "...\n",
    "%YAML 1.1\n", "\t", "\r\n", "\0", "\ufeff", "#", "{#", "#}",
    "{% import_yaml 'main.sls' as m %}", "{% include 'main.sls' %}", "{% macro m() %}",
    "{% endmacro %}", "{% load_yaml as y %}", "{% endload %}", "{% raw %}",
]  # fmt: skip


@MANY
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=14).map("".join))
def test_text_of_any_kind_compiles_or_is_reported(text: str) -> None:
    with place() as base:
        (base / "states" / "main.sls").write_bytes(text.encode("utf-8", "surrogatepass"))
        compile_all(base, "main")


@FEW
@given(st.binary(max_size=200))
def test_bytes_of_any_kind_compile_or_are_reported(content: bytes) -> None:
    with place() as base:
        (base / "states" / "main.sls").write_bytes(content)
        (base / "states" / "top.sls").write_bytes(content)
        compile_all(base, "main")


@FEW
@given(values, values)
def test_top_files_and_pillars_of_any_shape_are_read_or_told(top: object, data: object) -> None:
    shaped = {"base": {"*": top}}
    with place() as base:
        for content, name in (
            (top, "states/top.sls"),
            (shaped, "pillar/top.sls"),
            (data, "pillar/p.sls"),
            (shaped, "states/main.sls"),
        ):
            (base / name).write_text(f"#!msgpack\n{base64.b64encode(_packed(content)).decode()}\n")
        compile_all(base, "main")


renderer_lines = st.lists(
    st.one_of(st.sampled_from([*RENDERERS, "|", " ", "-", "_", "/"]), st.text(max_size=3)), max_size=6
)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Cheetah's own
@FEW
@given(renderer_lines.map("".join))
def test_renderer_lines_of_any_kind_are_read_or_told(line: str) -> None:
    with place() as base:
        (base / "states" / "main.sls").write_bytes(
            f"#!{line}\na: test.nop\n".encode("utf-8", "surrogatepass")
        )
        compile_all(base, "main")


@MANY
@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=10).map("".join)))
def test_yaml_of_the_command_line_is_read_or_told(text: str) -> None:
    try:
        yaml_value("--pillar", text)
    except SalternError as problem:
        assert "--pillar" in str(problem)


@MANY
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                ["salt:", "test.echo", "(", ")", ",", "=", "'", '"', "\\", "~", ".", "a", " ", "[", "{"]
            ),
            st.text(max_size=2),
        ),
        max_size=12,
    ).map("".join)
)
def test_slots_of_any_kind_are_parsed_or_told(text: str) -> None:
    from saltern.runtime.slots import resolve

    with contextlib.suppress(BadSlot):
        parse_slot(PREFIX + text)
    caller = ScriptedCaller(functions={"test.echo": lambda *args, **kwargs: list(args)})
    with contextlib.suppress(BadSlot):
        resolve({"a": PREFIX + text, "b": [PREFIX + text], "c": {"d": PREFIX + text}}, caller)


targets = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "and",
                "or",
                "not",
                "(",
                ")",
                "G@os:Debian",
                "E@.*",
                "L@a,b",
                "S@10.0.0.0/8",
                "N@g",
                "I@a:b",
                "*",
                " ",
                "Q@",
                "@",
                "E@(",
                "R@%x",
            ]
        ),
        st.text(max_size=3),
    ),
    max_size=8,
)


@MANY
@given(targets.map(" ".join), st.sampled_from([*MATCHERS, "nosuch"]))
def test_targets_of_any_kind_match_or_are_reported(expression: str, how: str) -> None:
    subject = Subject(
        id="here",
        grains={"os": "Debian", "ipv4": ["10.0.0.1"]},
        pillar={"a": "b"},
        nodegroups={"g": "N@g or here"},
    )
    with contextlib.suppress(BadTarget):
        assert matches(subject, expression, how) in (True, False)


@FEW
@given(
    st.dictionaries(st.one_of(st.sampled_from(sorted(Settings.__struct_fields__)), words), values, max_size=4)
)
def test_configuration_of_any_shape_is_read_or_told(data: dict[str, object]) -> None:
    with place() as base:
        path = base / "saltern.yaml"
        path.write_bytes(yaml.safe_dump(data, allow_unicode=True).encode("utf-8", "replace"))
        try:
            loaded, _ = load(str(path), {}, {})
        except SalternError:
            return
        assert isinstance(loaded, Settings)


@pytest.mark.parametrize(
    "content", [b"", b"\0", b"\xff\xfe", b"{" * 5000, b"- " * 3000, b"a: " * 200, b"&a " * 100, b"? " * 5000]
)
def test_files_that_broke_others(content: bytes) -> None:
    with place() as base:
        for name in ("states/main.sls", "states/top.sls", "pillar/top.sls"):
            (base / name).write_bytes(content)
        compile_all(base, "main")
        with contextlib.suppress(SalternError):
            load(str(base / "states" / "main.sls"), {}, {})


TOKENS = [
    "apply", "show", "call", "single", "render", "main", "highstate", "lowstate", "top", "grains",
    "--out", "json", "yaml",
    "--out=jsonl", "--test", "--pillar", "{a: 1}", "--pillar=[", "--only-id", "--exclude",
    "--state-output=terse", "--id",
    "--saltenv", "base", "--", "-", "-h", "--help", "--color", "--state-verbose", "false", "test.ping",
    "test.nop", "=",
    "--template", "--pipe", "--text", "--config", "--nosuch", "x=1", "name=", "--file-root",
    "--file-root==", "",
]  # fmt: skip


@settings(FEW, max_examples=80)
@given(st.lists(st.one_of(st.sampled_from(TOKENS), st.sampled_from(TOKENS), st.text(max_size=4)), max_size=7))
def test_command_lines_of_any_kind_are_obeyed_or_told(argv: list[str]) -> None:
    with place() as base:
        (base / "states" / "main.sls").write_text("a: test.nop\n")
        words = [word.replace("\0", "").encode("utf-8", "replace").decode() for word in argv]
        done = forked([*words, f"--file-root={base / 'states'}"], base)
        assert done.code in (0, 1, 2, 3, 5), (words, done)
        assert "Traceback" not in done.out + done.err
