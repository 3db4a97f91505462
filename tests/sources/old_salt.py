"""Salt 3006, for what Salt 3008 has no longer: sources of pillar, drivers of ``sdb`` and renderers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tools.salt import OLD_PLACE, PLACE

needs_old_salt = pytest.mark.skipif(not (OLD_PLACE / "bin").is_dir(), reason="needs Salt 3006: make salt")


def old_salt(config: Path, *words: str, env: dict[str, str] | None = None) -> Any:
    """What ``salt-call --local`` of Salt 3006 says."""
    program = [sys.executable, str(OLD_PLACE / "bin" / "salt-call"), "--local", "-c", str(config)]
    path = os.pathsep.join((str(OLD_PLACE), str(PLACE)))
    done = subprocess.run(
        [*program, "--out", "json", "-l", "quiet", *words],
        env={**os.environ, "PYTHONPATH": path, "HOME": str(config), **(env or {})},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    return json.loads(done.stdout)["local"]
