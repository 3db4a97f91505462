"""Salt's own library, beside us: in ``build/salt``, where ``make test`` puts it, or in SALTERN_SALT_SITE."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.compat.salt_library import CALLS, REAL, TOOLS, UNDONE
from tests.modules.bench import alone, needs_root
from tools.salt import LOCK, parts

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SITE = Path(os.environ.get("SALTERN_SALT_SITE") or ROOT / "build" / "salt")
DOCS = ROOT / "docs" / "internals" / "compat.md"
FEWEST = 60
SBIN = "/usr/local/sbin:/usr/sbin:/sbin"  # where some programs are that a plain PATH may lack

needs_salt = pytest.mark.skipif(
    not (SITE / "salt" / "states").is_dir(), reason="Salt is not installed beside saltern: see 'make salt'"
)


def answers(work: Path, mode: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, str(HERE / "salt_library.py"), str(SITE), str(work), mode],
        env={**os.environ, "PATH": f"{os.environ.get('PATH', '')}:{SBIN}"},
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def ran(answer: dict[str, Any]) -> bool:
    """Through to an answer of the state's own: not unknown, not crashed, no function of it missing."""
    if "missing" in answer or "is not available:" in answer["comment"]:
        return False
    return not answer["comment"].startswith(f"{answer['function']} failed")


def fine(answer: dict[str, Any]) -> bool:
    return ran(answer) and answer["result"] is not False


@contextmanager
def crontab_kept() -> Iterator[None]:
    """Salt leaves a line of its own in a crontab that was empty."""
    before = subprocess.run(["crontab", "-l"], capture_output=True, text=True)
    try:
        yield
    finally:
        if before.returncode:
            subprocess.run(["crontab", "-r"], capture_output=True)
        else:
            subprocess.run(["crontab", "-"], input=before.stdout, text=True, check=True)


@needs_salt
def test_at_least_sixty_state_modules_of_salt_run_unchanged(tmp_path: Path) -> None:
    found = answers(tmp_path, "first")
    assert [answer for answer in found if not ran(answer)] == []
    assert all(answer["provider"] == "salt" for answer in found)
    modules = {answer["function"].partition(".")[0] for answer in found if fine(answer)}
    assert len(modules) >= FEWEST, [answer for answer in found if not fine(answer)]


@needs_salt
def test_what_saltern_has_itself_is_its_own_and_the_rest_is_salts(tmp_path: Path) -> None:
    by_name = {answer["function"]: answer for answer in answers(tmp_path, "last")}
    assert by_name["test.succeed_with_changes"]["provider"] == ""
    assert by_name["rabbitmq_user.present"]["provider"] == "salt"
    assert [answer for answer in by_name.values() if not ran(answer)] == []


@needs_salt
def test_states_of_salt_that_really_act_change_once(tmp_path: Path) -> None:
    found = answers(tmp_path, "real")
    half = len(found) // 2
    assert all(answer["result"] is True for answer in found), found
    assert all(answer["changes"] for answer in found[:half])
    assert not any(answer["changes"] for answer in found[half:])


@needs_salt
@needs_root(*" ".join(TOOLS.get(name, "") for name in UNDONE).split())
def test_states_of_salt_change_the_machine_once_and_take_it_back_once(tmp_path: Path) -> None:
    with alone(), crontab_kept():
        found = answers(tmp_path, "undone")
    assert all(answer["result"] is True for answer in found), found
    size = len(UNDONE)
    changed = [bool(answer["changes"]) for answer in found]
    assert changed == [*[True] * size, *[False] * size] * 2, found


def test_the_page_tells_which_modules_were_run_and_how() -> None:
    rows = [
        line.split("|") for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("| `")
    ]
    told = {row[1].strip().strip("`"): row[3] for row in rows if len(row) > 4}
    for name, (fun, *_) in CALLS.items():
        how = told[f"{name}.{fun}"]
        assert ("really" in how) is (name in REAL or name in UNDONE), name
        assert ("stand-in" in how) is ("rabbitmqctl" in TOOLS.get(name, "")), name


def test_the_page_tells_what_there_is_of_salt_without_salt() -> None:
    import pkgutil
    import re

    from saltern.compat import shim
    from saltern.compat.imports import import_shim

    page = DOCS.read_text(encoding="utf-8").partition("## Without Salt")[2].partition("\n## ")[0]
    rows = {
        name: re.findall(r"`(\w+)`", names)
        for name, names in re.findall(r"^\| `([\w.]+)` \| (.*) \|$", page, re.M)
    }
    for name, names in rows.items():
        module = import_shim(name, names)
        assert [one for one in names if not hasattr(module, one)] == [], name
    there = {
        info.name.replace(shim.__name__, "salt")
        for info in pkgutil.walk_packages(shim.__path__, f"{shim.__name__}.")
    }
    assert there - set(rows) == {"salt.ext"}


def test_the_lock_of_salt_has_hashes_and_names_no_place_and_salt_comes_last() -> None:
    text = LOCK.read_text(encoding="utf-8")
    assert "://" not in text and "--index" not in text
    others, salt = parts(text)
    assert salt.startswith("salt==") and salt.count("--hash=sha256:") >= 1 and "==" not in salt[6:]
    assert "setuptools==" in others and "salt==" not in others
    pinned = [line for line in others.splitlines() if "==" in line]
    assert all(line.endswith("\\") for line in pinned), "every one has its hashes below it"
