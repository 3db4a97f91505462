"""The states of the extension, with a real ``salt-call`` that has no master."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from bench.fleet_salt import SALT, environment
from tests.salt_fleet.conftest import EXTENSION

WHEEL = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
POINT = "[console_scripts]\nsaltern = small_saltern:main\n"


@pytest.fixture
def minion(tmp_path: Path) -> Path:
    """The directory of a minion's configuration; the file roots are beside it."""
    if not (SALT / "bin" / "salt-call").exists():
        pytest.skip("needs Salt in build/salt")
    states, etc = tmp_path / "states", tmp_path / "etc"
    etc.mkdir()
    command = [sys.executable, "-m", "saltext.saltern", str(states)]
    subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(EXTENSION)}, check=True, stdout=subprocess.DEVNULL
    )
    program = Path(sys.executable).parent / "saltern"
    (etc / "minion").write_text(
        f"root_dir: {tmp_path}/root\nid: one\nfile_client: local\nfile_roots: {{base: [{states}]}}\n"
        "fileserver_list_cache_time: 0\n"
        f"saltern: {{program: {program}, options: {{state_dir: {tmp_path}/runs}}}}\n"
    )
    salt_call(etc, "saltutil.sync_all")
    return etc


def salt_call(minion: Path, *words: str) -> Any:
    command = [sys.executable, str(SALT / "bin" / "salt-call"), "-c", str(minion), "--local", "--out", "json"]
    done = subprocess.run([*command, *words], env=environment(), capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["local"]


def apply(minion: Path, text: str, *words: str) -> list[dict[str, Any]]:
    """The results of a state file, in the order in which they ran."""
    (minion.parent / "states" / "here.sls").write_text(text)
    found = salt_call(minion, "state.apply", "here", *words)
    assert isinstance(found, dict), found
    return sorted(found.values(), key=lambda state: int(state["__run_num__"]))


def small_wheel(folder: Path, version: str) -> None:
    """A distribution that is called saltern and knows its version, and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"saltern-{version}.dist-info"
    parts = {
        "small_saltern.py": f"def main():\n    print('saltern {version}')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: saltern\nVersion: {version}\n",
        f"{info}/WHEEL": WHEEL,
        f"{info}/entry_points.txt": POINT,
    }
    record = "".join(f"{name},,\n" for name in (*parts, f"{info}/RECORD"))
    with zipfile.ZipFile(folder / f"saltern-{version}-py3-none-any.whl", "w") as wheel:
        for name, text in {**parts, f"{info}/RECORD": record}.items():
            wheel.writestr(name, text)


def test_saltern_is_installed_offline_in_an_environment_of_its_own(minion: Path, tmp_path: Path) -> None:
    wheels = tmp_path / "states" / "wheels"
    small_wheel(wheels, "1.0")
    small_wheel(wheels, "1.1")
    opt = tmp_path / "opt"
    state = f"it:\n  saltern.installed: [{{name: {opt}}}, {{version: '1.0'}}, {{wheels: 'salt://wheels'}}]\n"
    (foreseen,) = apply(minion, state, "test=True")
    assert foreseen["result"] is None and not opt.exists()
    (first,) = apply(minion, state)
    assert (first["result"], first["changes"]) == (True, {"saltern": {"old": None, "new": "1.0"}}), first
    again, newer, missing = apply(
        minion,
        state
        + f"newer:\n  saltern.installed: [{{name: {opt}}}, {{version: '1.1'}}, {{wheels: 'salt://wheels'}}]\n"
        f"third:\n  saltern.installed: [{{name: {opt}}}, {{version: '3'}}, {{wheels: 'salt://wheels'}}]\n",
    )
    assert (again["changes"], newer["changes"]) == ({}, {"saltern": {"old": "1.0", "new": "1.1"}})
    assert missing["result"] is False and "saltern cannot be installed" in missing["comment"]


def test_state_files_are_applied_from_within_a_run_of_salt(minion: Path, tmp_path: Path) -> None:
    (tmp_path / "states" / "bad.sls").write_text("wrong:\n  cmd.run: [{name: exit 3}]\n")
    above, wrong, missing = apply(minion, "bad:\n  saltern.applied: []\nno.such:\n  saltern.applied: []\n")
    assert above["result"] is False and above["comment"] == "1 state, 1 changed"
    assert (wrong["result"], wrong["comment"]) == (False, 'Command "exit 3" run')
    assert missing["result"] is False and "no SLS is called 'no.such'" in missing["comment"]


def test_the_package_works_as_pip_installs_it(minion: Path, tmp_path: Path) -> None:
    """In Salt's environment, with nothing synchronised."""
    shutil.copytree(EXTENSION.parent, tmp_path / "saltext")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--target", str(tmp_path / "site"), str(tmp_path / "saltext")]
    subprocess.run(command, env=environment(), check=True)
    for kind in ("modules", "states", "utils", "grains", "runners", "returners"):
        shutil.rmtree(tmp_path / "states" / f"_{kind}")
        shutil.rmtree(tmp_path / f"root/var/cache/salt/minion/extmods/{kind}", ignore_errors=True)
    (tmp_path / "states" / "fine.sls").write_text("fine:\n  test.nop: []\n")
    env = {**environment(), "PYTHONPATH": f"{tmp_path}/site{os.pathsep}{environment()['PYTHONPATH']}"}
    call = [sys.executable, str(SALT / "bin" / "salt-call"), "-c", str(minion), "--local", "--out", "json"]
    done = subprocess.run(
        [*call, "saltern.apply", "fine"], env=env, capture_output=True, text=True, check=False
    )
    assert list(json.loads(done.stdout)["local"]) == ["test_|-fine_|-fine_|-nop"], done.stderr


def test_both_compile_the_same(minion: Path, tmp_path: Path) -> None:
    (tmp_path / "states" / "same.sls").write_text(
        "a:\n  file.managed: [{name: /x}, {require_in: [{cmd: b}]}]\nb:\n  cmd.run: [{name: 'true'}]\n"
    )
    program = tmp_path / "salt-call"
    program.write_text(f'#!/bin/sh\nexec env PYTHONPATH={SALT} {sys.executable} {SALT}/bin/salt-call "$@"\n')
    program.chmod(0o755)
    command = [
        sys.executable,
        "-m",
        "saltern",
        "compare",
        "--salt-config",
        str(minion),
        "--salt-call",
        str(program),
    ]
    same = subprocess.run([*command, "same"], capture_output=True, text=True, check=False)
    assert (same.returncode, same.stdout) == (0, "2 states, no difference\n"), same.stderr
    broken = subprocess.run([*command, "no.such"], capture_output=True, text=True, check=False)
    assert broken.returncode == 3 and "cannot compile the states" in broken.stderr
