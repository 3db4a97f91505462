"""The pillar as Salt compiles it, with the real program."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

SALT = Path(__file__).parents[2] / "build" / "salt" / "programs" / "salt-call"
WORDS = ("--out", "json", "-l", "quiet", "pillar.items", "unmask=True")


def salt_pillar(config: Path) -> Mapping[str, object]:
    """The pillar of the minion that is configured in a directory."""
    command = [str(SALT), "--local", "-c", str(config), *WORDS]
    done = subprocess.run(command, capture_output=True, timeout=300, check=True)
    found: Mapping[str, object] = json.loads(done.stdout)["local"]
    return found
