"""Pillar, top file, configuration and file system: whatever is wrong there is told, too."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest
from tests.e2e.command import NOBODY, Place, is_told_well
from tests.e2e.test_bad_states import BOMB, DEEP, STATE

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")

# Wrong YAML wherever YAML is read, and its place.
WRONG: dict[str, tuple[str | bytes, str]] = {
    "deep": (f"a: {DEEP}", "1:104"),
    "bomb": (BOMB, "6:29"),
    "recursive": ("a: &a [*a]", "1:8"),
    "latin-1": (b"b: c\na: \xe9", "2:4"),
    "NUL": ('b: c\na: "\0"', "2"),
    "not closed": ("a: [", "1"),
    "list as key": ("? [a]\n: b", "1:3"),
    "twice": ("a: 1\na: 2", "2:1"),
    "python": ("a: !!python/name:os.system x", "1:4"),
    "two documents": ("a: 1\n---\nb: 1\n", "2:1"),
    "merge of a number": ("<<: 5", "1:5"),
}
wrong = pytest.mark.parametrize(("content", "where"), WRONG.values(), ids=WRONG)


@wrong
def test_a_wrong_pillar_file_is_exit_code_5(place: Place, content: str | bytes, where: str) -> None:
    place.write({"main.sls": STATE, "pillar/top.sls": "base: {'*': [p]}", "pillar/p.sls": content})
    done = place.run("apply", "main", "--out", "json")
    is_told_well(done)
    assert done.code == 5
    assert f"pillar/p.sls:{where}" in done.err
    assert f"pillar/p.sls:{where}" in done.problems()[0]
    for command in (("show", "pillar"), ("call", "test.ping")):
        assert place.run(*command).code == 5


@wrong
def test_a_wrong_top_file_is_exit_code_3(place: Place, content: str | bytes, where: str) -> None:
    done = place.write({"main.sls": STATE, "top.sls": content}).run("apply")
    is_told_well(done)
    assert done.code == 3
    assert f"states/top.sls:{where}" in done.err


@wrong
def test_a_wrong_imported_file_is_exit_code_3(place: Place, content: str | bytes, where: str) -> None:
    place.write({"main.sls": f'{{% import_yaml "d.yaml" as d %}}\n{STATE}', "d.yaml": content})
    done = place.run("apply", "main")
    is_told_well(done)
    assert done.code == 3
    assert f"states/d.yaml:{where}" in done.err


@wrong
@pytest.mark.parametrize("option", ["--config", "--grains"])
def test_a_wrong_configuration_or_grains_file_is_exit_code_1(
    place: Place, content: str | bytes, where: str, option: str
) -> None:
    place.write({"main.sls": "{{ grains.id }}: test.nop\n", "etc/file": content})
    done = place.run("apply", "main", option, str(place.base / "etc/file"))
    is_told_well(done)
    assert done.code in (0, 1)  # some of these are only odd: keys that are not used
    assert done.code == 0 or "etc/file" in done.err


@pytest.mark.parametrize(
    "content", [text for text, _ in WRONG.values() if isinstance(text, str) and "\0" not in text]
)
def test_a_wrong_pillar_on_the_command_line_is_exit_code_1(place: Place, content: str) -> None:
    done = place.write({"main.sls": STATE}).run("apply", "main", "--pillar", content)
    is_told_well(done)
    assert done.code == 1
    assert "--pillar" in done.err


TOPS = [
    ("- a", "1:1", "top-shape"),
    ("base: [a]", "1:1", "top-shape"),
    ("base: {'*': 5}", "1:8", "top-not-list"),
    ("base: {'*': null}", "1:8", "top-not-list"),
    ("base: {'*': [5]}", "1:14", "top-shape"),
    ("base: {'*': [{match: nosuch}, p]}", "1:14", "top-matcher"),
    ("5: {'*': [p]}", "1:1", "top-shape"),
    ("base:\n  '*':\n    - {{ nosuch }}", "3", "template-undefined"),
    ("base: {'*': [nosuch]}", "1:14", "sls-not-found"),
]


@pytest.mark.parametrize(("text", "where", "code"), TOPS)
def test_a_top_file_of_the_wrong_shape_is_reported_for_states_and_for_pillar(
    place: Place, text: str, where: str, code: str
) -> None:
    place.write({"p.sls": STATE, "top.sls": text})
    done = place.run("apply")
    is_told_well(done)
    assert (done.code, f"[{code}]" in done.err) == (3, True)
    assert f"states/top.sls:{where}: " in done.err
    (place.base / "pillar").mkdir()
    place.write({"pillar/p.sls": "a: 1", "pillar/top.sls": text})
    done = place.run("apply", "p")
    is_told_well(done)
    assert (done.code, f"[{code}]" in done.err) == (5, True)
    assert f"pillar/top.sls:{where}: " in done.err


@pytest.mark.parametrize("target", ["( a", "a and", "G@", "N@nosuch", "S@999.0.0.0/99", "E@[", "Q@x"])
def test_a_wrong_target_in_a_top_file_is_never_a_crash(place: Place, target: str) -> None:
    place.write({"p.sls": STATE, "top.sls": f"base: {{'{target}': [p]}}"})
    done = place.run("apply")
    is_told_well(done)
    assert done.code in (2, 3)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("include: x", "1:1"),
        ("include: {a: b}", "1:1"),
        ("include: [nosuch]", "1:11"),
        ("include: [null]", "1:11"),
        ("- a", "1:1"),
        ("a: {{ nosuch }}", "1"),
        ("a: 1\nb: {{ 1/0 }}", "2"),
    ],
)
def test_a_pillar_file_of_the_wrong_shape_is_exit_code_5(place: Place, text: str, where: str) -> None:
    place.write({"main.sls": STATE, "pillar/top.sls": "base: {'*': [p]}", "pillar/p.sls": text})
    done = place.run("apply", "main")
    is_told_well(done)
    assert done.code == 5
    assert f"pillar/p.sls:{where}: " in done.err


OPTIONS = [
    "file_roots: 5",
    "failhard: x",
    "max_sls_size: -1",
    "top_file_merging_strategy: x",
    "renderer: nosuch",
    "id: [a]",
    "jinja_sls_env: {block_start_string: '{{'}",
    "render_time_limit: x",
    "render_time_limit: .nan",
    "render_time_limit: 1e300",
    "grains: 5",
    "state_max_parallel: x",
    "include: saltern.yaml",
    "nodegroups: {a: N@b, b: N@a}",
    "global_state_conditions: {'*': ['( x']}",
    "state_top: ../../etc/passwd",
    'cachedir: "a\\0b"',
    "module_dirs: [/nosuch]",
    "jinja_sls_env: {line_statement_prefix: 5}",
    "renderer: ''",
    f"file_roots: {DEEP}",
    "file_roots: &a [*a]",
]


@pytest.mark.parametrize("line", OPTIONS)
def test_a_wrong_option_in_the_configuration_is_never_a_crash(place: Place, line: str) -> None:
    place.write({"main.sls": "{{ 'x' }}: test.nop\n", "etc/saltern.yaml": f"test: false\n{line}\n"})
    done = place.run("apply", "main", "--out", "json")
    is_told_well(done)
    assert done.code in (0, 1, 2, 3)
    if done.code == 0:
        assert list(done.answers()) == ["x"], "no state may get lost"
    if done.code == 1:
        assert "saltern.yaml" in done.err or "configuration" in done.err


# -- through several files -------------------------------------------------------------------------


def test_a_mistake_is_reported_where_it_stands_with_the_way_that_led_there(place: Place) -> None:
    place.write(
        {
            "main.sls": "\n{% from 'lib/macros.jinja' import state with context %}\n{{ state('a') }}\n",
            "lib/macros.jinja": "{% macro state(name) %}\n{{ name }}:\n  test.nop:\n"
            "    - a: {{ name.nosuch.b }}\n{% endmacro %}\n",
        }
    )
    done = place.run("apply", "main")
    is_told_well(done)
    assert done.code == 3
    assert f"{place.states}/lib/macros.jinja:4: " in done.err
    assert f"called from: {place.states}/main.sls:3" in done.err
    assert "4 |     - a: {{ name.nosuch.b }}" in done.err


def test_a_mistake_in_an_include_of_an_include_is_reported_in_its_own_file(place: Place) -> None:
    place.write(
        {
            "main.sls": "include: [a]\n",
            "a/init.sls": "include: [.b]\n",
            "a/b.sls": "ok: test.nop\nx:\n  test.nop: 5\n",
        }
    )
    done = place.run("apply", "main")
    is_told_well(done)
    assert f"{place.states}/a/b.sls:3:3: " in done.err
    assert "3 |   test.nop: 5" in done.err


def test_what_yaml_refuses_after_a_template_is_reported_at_the_line_of_the_template(place: Place) -> None:
    text = (
        "{% for name in ['a', 'b', 'c'] %}\n{{ name }}:\n  test.nop: []\n{% endfor %}\n\nx:\n   - a\n  - b\n"
    )
    done = place.write({"main.sls": text}).run("apply", "main")
    is_told_well(done)
    assert "main.sls:8" in done.err
    text = "{% for name in ['a', 'b', 'a'] %}\n{{ name }}:\n  test.nop: []\n{% endfor %}\n"
    done = place.write({"main.sls": text}).run("apply", "main")
    assert "main.sls:2" in done.err
    assert "the key 'a' is defined twice [yaml-duplicate-key]" in done.err


def test_all_problems_of_several_files_are_reported_at_once(place: Place) -> None:
    place.write({"a.sls": "x: 5\n", "b.sls": "y: {{ nosuch }}\n", "c.sls": "include: [gone]\n"})
    done = place.run("apply", "a", "b", "c", "--out", "json")
    assert done.code == 3
    assert len(done.problems()) == 3
    assert "3 errors" in done.err


# -- the file system --------------------------------------------------------------------------------


@ROOT_ONLY
def test_files_and_roots_that_may_not_be_read_are_reported(open_place: Place) -> None:
    place = open_place
    place.write({"main.sls": STATE, "secret.sls": STATE, "deep/x.sls": STATE})
    (place.states / "secret.sls").chmod(0)
    (place.states / "deep").chmod(0)
    assert place.run("apply", "main", "--out", "json", user=NOBODY).code == 0
    for name in ("secret", "deep.x"):
        done = place.run("apply", name, user=NOBODY)
        is_told_well(done)
        assert done.code == 3
        assert f"{place.states}/{name.replace('.', '/')}.sls: " in done.err
        assert "Permission denied" in done.err
    is_told_well(place.run("apply", "*", user=NOBODY))
    place.states.chmod(0o700)
    done = place.run("apply", "main", user=NOBODY)
    is_told_well(done)
    assert (done.code, "[root-unreadable]" in done.err) == (1, True)


def test_links_out_of_the_tree_are_followed_for_its_owner_made_them(place: Place) -> None:
    outside = place.base / "outside"
    outside.mkdir()
    (outside / "x.sls").write_text("linked: test.nop\n")
    (place.states / "more").symlink_to(outside)
    (place.states / "y.sls").symlink_to(outside / "x.sls")
    assert list(place.run("apply", "more.x", "--out", "json").answers()) == ["linked"]
    assert list(place.run("apply", "y", "--out", "json").answers()) == ["linked"]


def test_loops_of_links_end(place: Place) -> None:
    place.write({"main.sls": STATE, "sub/a.sls": "a: test.nop\n"})
    (place.states / "loop.sls").symlink_to("loop.sls")
    (place.states / "sub/up").symlink_to("..")
    (place.states / "sub/self").symlink_to(".")
    done = place.run("apply", "loop")
    is_told_well(done)
    assert (done.code, "loop.sls" in done.err) == (3, True)
    done = place.write({"globs.sls": "include: ['sub.*']\n"}).run("apply", "globs")
    is_told_well(done)
    done = place.run("apply", "mainn")
    is_told_well(done)
    assert "did you mean 'main'?" in done.err
    target = place.base / "copy"
    place.write({"copy.sls": f"{target}:\n  file.recurse:\n    - source: salt://sub\n"})
    done = place.run("apply", "copy", "--out", "json")
    is_told_well(done)
    assert (target / "a.sls").exists()


@pytest.mark.parametrize("kind", ["fifo", "zero", "null", "directory", "socket"])
def test_what_is_no_plain_file_is_never_read_without_end(place: Place, kind: str) -> None:
    import socket

    path = place.states / "main.sls"
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case "socket":
            with socket.socket(socket.AF_UNIX) as one:
                here = os.getcwd()
                os.chdir(place.states)
                one.bind("main.sls")
                os.chdir(here)
        case device:
            path.symlink_to(f"/dev/{device}")
    for words in (("apply", "main"), ("show", "rendered", "main"), ("render", str(path)), ("apply", "*")):
        done = place.run(*words)
        is_told_well(done)
    place.write({"other.sls": "{% include 'main.sls' %}\n"})
    is_told_well(place.run("apply", "other"))


def test_a_file_of_100_megabytes_is_refused_before_it_is_read(place: Place) -> None:
    with open(place.states / "main.sls", "wb") as file:
        file.truncate(100 << 20)
    done = place.run("apply", "main")
    is_told_well(done)
    assert (done.code, "main.sls" in done.err, "[file-too-large]" in done.err) == (3, True, True)
    done = place.write({"other.sls": "{% include 'main.sls' %}\n"}).run("apply", "other")
    is_told_well(done)
    assert (done.code, "[file-too-large]" in done.err) == (3, True)


@pytest.mark.parametrize(
    "name",
    ["a\0b", "../../etc/passwd", "/etc/passwd", "", ".", "..", "*", "[", "x" * 5000, "a\nb", "\x1b[31m", "é"],
)
def test_an_odd_name_of_an_sls_is_never_a_crash(place: Place, name: str) -> None:
    place.write({"main.sls": STATE})
    for command in ("apply", "show"):
        words = [name] if command == "apply" else ["sls", name]
        done = place.run(command, *words)
        is_told_well(done)
        assert done.code in (0, 1, 2, 3)


# -- the cache ----------------------------------------------------------------------------------------


def _templates(place: Place) -> list[Path]:
    return [path for path in (place.base / "cache").rglob("*") if path.is_file()]


def test_compiled_templates_are_kept_for_oneself_alone(place: Place) -> None:
    place.write({"main.sls": "{{ 'x' }}: test.nop\n"})
    assert place.run("apply", "main").code == 0
    (kept,) = _templates(place)
    assert kept.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("wrong", ["open to all", "of another user", "a file", "read-only", "garbage"])
def test_a_cache_that_cannot_be_trusted_or_used_costs_only_speed(place: Place, wrong: str) -> None:
    """Compiled templates are code: what somebody else can write is not run."""
    place.write({"main.sls": "{{ 'x' }}: test.nop\n"})
    assert place.run("apply", "main").code == 0
    (kept,) = _templates(place)
    match wrong:
        case "open to all":
            kept.parent.chmod(0o777)
            kept.write_bytes(_evil(place))
        case "of another user":
            if os.geteuid() != 0:
                pytest.skip("needs root")
            os.chown(kept.parent, NOBODY, NOBODY)
            kept.write_bytes(_evil(place))
        case "a file":
            for path in (kept, kept.parent, place.base / "cache"):
                path.unlink() if path.is_file() else path.rmdir()
            (place.base / "cache").write_text("")
        case "read-only":
            kept.unlink()
            kept.parent.chmod(0o500)
        case "garbage":
            kept.write_bytes(os.urandom(500))
    done = place.run("apply", "main", "--out", "json")
    is_told_well(done)
    assert (done.code, list(done.answers())) == (0, ["x"])
    assert not (place.base / "evil").exists()


def _evil(place: Place) -> bytes:
    """A compiled template that would leave a trace if it ran, in jinja2's own format."""
    import marshal
    import pickle

    from jinja2.bccache import bc_magic

    (kept,) = _templates(place)
    checksum = pickle.loads(kept.read_bytes()[len(bc_magic) :])
    code = compile(f"open({str(place.base / 'evil')!r}, 'w').close()", "evil", "exec")
    return bc_magic + pickle.dumps(checksum, 2) + marshal.dumps(code)


def test_a_full_disk_under_the_cache_costs_only_speed(place: Place) -> None:
    """A file-size limit of the process is a disk that is full at the first byte."""
    place.write({"main.sls": "{{ 'x' }}: test.nop\n"})
    words = ("main", "--out", "json", "--no-journal")  # a journal that cannot be written is another matter
    process = place.start("apply", *words, preexec_fn=_no_files)  # type: ignore[arg-type]
    out, err = process.communicate(timeout=200)
    assert (process.returncode, err) == (0, b"")
    assert b"test_|-x_|-x_|-nop" in out


def _no_files() -> None:
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
