"""What Salt's gitfs has for each environment: its own code, with the system's git."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

SALT = Path(__file__).parents[2] / "build" / "salt"
PROGRAM = """
import json, sys
import salt.config
from salt.fileserver import gitfs
from salt.utils.gitfs import GitFS

found = []
for number, (config, envs) in enumerate(json.load(sys.stdin)):
    opts = salt.config.minion_config(None)
    base = f"{sys.argv[1]}/{number}"
    opts.update(cachedir=base, sock_dir=base, gitfs_provider="gitcli", __role="minion", **config)
    GitFS.instance_map.clear()  # it keeps one by the addresses alone
    one = GitFS(
        opts,
        opts["gitfs_remotes"],
        per_remote_overrides=gitfs.PER_REMOTE_OVERRIDES,
        per_remote_only=gitfs.PER_REMOTE_ONLY,
    )
    listed = sorted(one.envs(ignore_cache=True))
    files = {env: sorted(one.file_list({"saltenv": env})) for env in envs}
    found.append({"envs": listed, "files": files})
print(json.dumps(found))
"""
Cases = Sequence[tuple[Mapping[str, object], Sequence[str]]]


def by_salt(cases: Cases, cache: Path) -> list[dict[str, object]]:
    """For each configuration: the environments, and the files of some."""
    env = {**os.environ, "PYTHONPATH": str(SALT), "HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(cache)],
        input=json.dumps(list(cases)),
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: list[dict[str, object]] = json.loads(done.stdout.splitlines()[-1])
    return found
