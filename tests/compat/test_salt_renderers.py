"""Renderers of an installed Salt, each beside Salt itself: the same low states of the same file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from saltern.render.pipe import SALTS

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("SALTERN_SALT_SITE") or ROOT / "build" / "salt")
SALT = ROOT / "build" / "salt" / "programs" / "salt-call"

FILES = {
    "stateconf": "#!stateconf yaml . jinja\n\n.params:\n  stateconf.set:\n    - port: 8080\n"
    "# --- end of state config ---\n.app:\n  test.show_notification:\n"
    "    - text: port {{ params.port }} of {{ grains['id'] }}\n    - require:\n      - stateconf: .params\n",
    "ordered": "#!stateconf -o yaml . jinja\n.a:\n  test.nop\n.b:\n  test.nop: []\n",
    "goalless": "#!stateconf -G yaml . jinja\ninclude:\n  - .part\n.a:\n  test.nop:\n    - x: {{ 1 + 1 }}\n",
    "by_mako": "#!stateconf yaml . mako\n.a:\n  test.nop:\n    - x: ${1 + 1}\n",
    "piped": "#!jinja|yaml|stateconf -p\n.a:\n  test.nop:\n    - x: {{ 2 + 2 }}\n",
    "pyobjects": "#!pyobjects\nfor name in ('one', 'two'):\n    Test.nop(name, x=len(name))\n"
    "with Test.nop('three'):\n    Test.nop('four')\n",
}
GONE = sorted(set(SALTS) - {"stateconf", "pyobjects"})  # Salt 3008 has them no more

needs_salt = pytest.mark.skipif(
    not SALT.exists(), reason="Salt is not installed beside saltern: see 'make salt'"
)


def low_of(command: list[str], env: dict[str, str]) -> list[dict[str, Any]]:
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["local"]
    return found


@needs_salt
def test_a_renderer_of_salt_makes_of_a_file_what_it_makes_there(tmp_path: Path) -> None:
    roots = tmp_path / "roots"
    roots.mkdir()
    for name, text in FILES.items():
        (roots / f"{name}.sls").write_text(text)
    (roots / "part.sls").write_text("part:\n  test.nop\n")
    (tmp_path / "etc").mkdir()
    minion = {"file_client": "local", "id": "here", "root_dir": str(tmp_path / "root")}
    (tmp_path / "etc" / "minion").write_text(json.dumps({**minion, "file_roots": {"base": [str(roots)]}}))
    env = {**os.environ, "HOME": str(tmp_path)}
    there = low_of(
        [str(SALT), "--local", f"--config-dir={tmp_path}/etc", "--log-level=quiet", "--out=json",
         "state.show_low_sls", ",".join(FILES)], env,
    )  # fmt: skip
    here = low_of(
        [sys.executable, "-m", "saltern", "show", "low-sls", *FILES, "--file-root", str(roots),
         "--pillar-root", str(tmp_path / "none"), "--id", "here", "--out", "json"],
        {**env, "PYTHONPATH": str(SITE)},
    )  # fmt: skip
    for name in FILES:
        assert by_sls(here, name) == by_sls(there, name), name
        assert by_sls(there, name)


def by_sls(low: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [one for one in low if one["__sls__"] == name]


@pytest.mark.parametrize("name", GONE)
def test_a_renderer_that_no_salt_here_has_says_what_it_needs(tmp_path: Path, name: str) -> None:
    (tmp_path / "conf.sls").write_text(f"#!{name}\na: 1\n")
    done = subprocess.run(
        [sys.executable, "-m", "saltern", "show", "sls", "conf", "--file-root", str(tmp_path)],
        env={**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(SITE)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert f"conf.sls:1:3: the renderer '{name}' is part of Salt" in done.stderr
    assert "Salt up to 3007" in done.stderr
