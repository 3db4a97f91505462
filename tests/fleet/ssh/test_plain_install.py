"""``pip install saltern``, and no extra: hosts of a roster can be reached with that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# Runs commands one after the other, in a process that has no library but those that saltern requires.
ALONE = """
import json, sys
REQUIRED = {"jinja2", "markupsafe", "yaml", "_yaml", "msgspec", "mako", "jmespath", "saltern"}

class NothingElse:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        known = top in REQUIRED or top in sys.stdlib_module_names or top.startswith("_sysconfigdata")
        if path is None and not known:
            raise ModuleNotFoundError(f"no extra is installed that has {name}", name=name)

sys.meta_path.insert(0, NothingElse())
from saltern.cli.main import run
for words in json.loads(sys.argv[1]):
    print("code", run(words), flush=True)
"""


def test_no_extra_is_needed_for_hosts_of_a_roster(tmp_path: Path) -> None:
    import json

    (tmp_path / "web.sls").write_text(
        "{% set x = pillar.given %}\nshow:\n  cmd.run:\n    - name: echo {{ x }}\n"
    )
    (tmp_path / "hosts.ini").write_text(
        f"[web]\nweb1 ansible_connection=local ansible_python_interpreter={sys.executable}"
        f" saltern_directory={tmp_path}/base\n"
    )
    where = ["--on", "@web", "--roster", "hosts.ini"]
    files = ["--file-root", ".", "--pillar", "{given: quince}"]
    commands = [
        ["fleet", "roster", "check", "hosts.ini"],
        ["ssh", "raw", *where, "echo", "raw"],
        ["apply", "web", *where, *files],
        ["apply", "web", *where, *files, "--batch", "1"],
        ["plan", "web", *where, *files],
        ["call", "test.ping", "--on", "G@kernel:Linux", "--roster", "hosts.ini"],
        ["ssh", "bundle"],
    ]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SALTERN_STATE_DIR": f"{tmp_path}/state"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", ALONE, json.dumps(commands)],
        capture_output=True,
        text=True,
        check=False,
        env=env | {"SALTERN_CACHEDIR": f"{tmp_path}/cache"},
        cwd=tmp_path,
        timeout=240,
    )
    assert done.stdout.count("code 0\n") == len(commands), done.stdout + done.stderr
