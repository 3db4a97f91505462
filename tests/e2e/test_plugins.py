"""Modules of other packages: installed with pip, found by their entry points."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.e2e.command import SALTERN, Done, Place, _environment
from tests.e2e.test_laziness import modules_of

MARKER = '''
"""Markers."""
from __future__ import annotations

from saltern.language.nature import Nature
from saltern.language.result import Result, ok
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function, state

NATURE = Nature(repeat="once")


@state
def made(ctx: Context, name: str, *, size: int = 1) -> Result:
    """Make a marker.

    Args:
        name: what it is called.
        size: how large it is.
    """
    return ok(f"made {name} of {size}", size=size)


@state(removes=True)
def wiped(ctx: Context, name: str) -> Result:
    return ok("wiped", changes={"name": name})


@function
def count(ctx: Context, many: int = 2) -> int:
    """How many there are."""
    return many
'''


def installed(at: Path, name: str, points: dict[str, str], files: dict[str, str]) -> dict[str, str]:
    """Install a package into a folder; the environment in which it is found there."""
    stem, info = name.replace("-", "_"), f"{name.replace('-', '_')}-1.0.dist-info"
    lines = [f"{key} = {value}" for key, value in points.items()]
    parts = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[saltern.modules]\n" + "\n".join(lines) + "\n",
    }
    wheel = at / f"{stem}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        for path, text in parts.items():
            packed.writestr(path, text)
        packed.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in (*parts, f"{info}/RECORD")))
    target = at / "site"
    words = ["install", "--quiet", "--no-index", "--no-deps", "--target", str(target), str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, capture_output=True)
    return {"PYTHONPATH": str(target)}


def acme(at: Path, **points: str) -> dict[str, str]:
    return installed(at, "acme-markers", points or {"marker": "acme.marker"}, {"acme/marker.py": MARKER})


MAIN = "one:\n  marker.made:\n    - size: '{{ salt['marker.count'](3) }}'\n"


def test_its_states_and_functions_are_called_and_its_arguments_checked(place: Place, tmp_path: Path) -> None:
    env = acme(tmp_path)
    place.write(
        {"main.sls": MAIN, "bad.sls": "one: {marker.made: [{sise: 2}]}", "none.sls": "one: marker.mad"}
    )
    answer = place.real("apply", "main", "--out", "json", env=env).answers()["one"]
    assert (answer["comment"], answer["result"]) == ("made one of 3", True)
    assert "no argument is called 'sise'; did you mean 'size'?" in place.real("apply", "bad", env=env).err
    unknown = place.real("apply", "none", env=env)
    assert "'marker' has no function 'mad'; did you mean 'made'?" in unknown.err


def test_what_it_declares_counts(place: Place, tmp_path: Path) -> None:
    place.write({"main.sls": "one: marker.wiped"})
    shown = place.real("plan", "main", env=acme(tmp_path)).out
    assert [line.split()[0] for line in shown.splitlines() if "marker.wiped" in line] == ["-"]


def test_docs_know_it(place: Place, tmp_path: Path) -> None:
    env = acme(tmp_path)
    assert "marker" in _docs(place, env).out
    assert "states of marker: made, wiped" in _docs(place, env, "marker").out
    page = _docs(place, env, "marker.made").out
    assert "Make a marker." in page and "  size: int = 1" in page
    assert "marker" not in _docs(place, {}).out


def _docs(place: Place, env: dict[str, str], *words: str) -> Done:
    argv = [*SALTERN, "docs", *words]
    done = subprocess.run(argv, env=_environment(place.base, env), cwd=place.base, capture_output=True)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_one_kind_can_be_offered_alone(place: Place, tmp_path: Path) -> None:
    env = installed(tmp_path, "acme", {"functions.marker": "acme.marker"}, {"acme/marker.py": MARKER})
    assert "states of marker" not in _docs(place, env, "marker").out
    place.write({"main.sls": MAIN})
    assert "no state module is called 'marker'" in place.real("apply", "main", env=env).err


def test_what_is_built_in_wins_and_what_it_lacks_is_added(place: Place, tmp_path: Path) -> None:
    body = MARKER.replace("def made", "def nop")
    env = installed(tmp_path, "acme", {"test": "acme.marker"}, {"acme/marker.py": body})
    place.write({"main.sls": "one: test.nop\ntwo: {test.wiped: [{require: [{test: one}]}]}"})
    answers = place.real("apply", "main", "--out", "json", env=env).answers()
    assert [answers[one]["comment"] for one in ("one", "two")] == ["Success!", "wiped"]
    for done in (place.real("check", env=env), _docs(place, env)):
        said = done.out + done.err
        assert "the state module 'test' of acme 1.0 is built in, too: only functions that" in said


def test_a_name_of_two_packages_is_used_of_neither(place: Place, tmp_path: Path) -> None:
    acme(tmp_path)
    env = installed(tmp_path, "other", {"marker": "other"}, {"other.py": MARKER})
    place.write({"main.sls": MAIN.replace("{{ salt['marker.count'](3) }}", "3")})
    told = "'marker' is offered by acme-markers 1.0, other 1.0; none of them is used: uninstall all but one"
    done = place.real("apply", "main", env=env)
    assert done.code != 0 and told in done.out + done.err
    check = place.real("check", env=env)
    assert "plugin-conflict" in check.out + check.err and told in check.out + check.err


@pytest.mark.parametrize(
    "body", ["import nothing_like_it", "raise RuntimeError('no')", "exit(3)", "not Python"]
)
def test_one_that_cannot_be_imported_is_reported_and_the_run_continues(
    place: Place, tmp_path: Path, body: str
) -> None:
    env = installed(tmp_path, "acme", {"marker": "acme_marker"}, {"acme_marker.py": body})
    place.write({"main.sls": "one: marker.made\ntwo: test.nop"})
    done = place.real("apply", "main", "--out", "json", env=env)
    assert [one["result"] for one in done.answers().values()] == [False, True]
    assert "the state module 'marker' of acme 1.0 cannot be imported: " in done.err


def test_a_package_that_the_run_installs_is_found_by_the_states_after_it(
    place: Place, tmp_path: Path
) -> None:
    (tmp_path / "spare").mkdir()
    acme(tmp_path / "spare")
    copy = f"cp -r {tmp_path}/spare/site/. {tmp_path}/site/"
    bring = f"bring: {{cmd.run: [{{name: '{copy}'}}, {{reload_modules: True}}]}}\n"
    place.write({"main.sls": bring + "use: {marker.made: [{require: [{cmd: bring}]}]}\n"})
    (tmp_path / "site").mkdir()
    done = place.real("apply", "main", "--out", "json", env={"PYTHONPATH": str(tmp_path / "site")})
    assert done.answers()["use"]["result"] is True, done.err


def test_a_run_of_what_is_built_in_reads_no_entry_points(place: Place) -> None:
    place.write(
        {"main.sls": "a: test.nop\nb: {cmd.run: [name: 'true']}\nc: {test.nop: [{watch: [{cmd: b}]}]}"}
    )
    assert "importlib.metadata" not in modules_of(place, *place.argv("apply", "main"))
