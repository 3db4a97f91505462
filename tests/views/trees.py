"""Trees of states for the tests of explanations, pictures and pages."""

from __future__ import annotations

import random
from pathlib import Path

from saltern.cli.main import run

SITE = """\
include:
  - base

config:
  test.succeed_with_changes:
    - require:
      - sls: base

service:
  test.nop:
    - watch:
      - test: config
    - require:
      - test: package

package:
  test.succeed_without_changes: []

reload:
  test.nop:
    - listen:
      - test: config
"""
BASE = """\
users:
  test.nop: []

groups:
  test.nop:
    - require_in:
      - test: users
"""
LATE = """\
/tmp/{{ pillar.get('tag', 'x') }}-<b>&"':
  test.succeed_with_changes:
    - delayed_render:
      - block: accounts

broken:
  test.fail_without_changes: []

blocked:
  test.nop:
    - require:
      - test: broken

steps:
  exec.lines:
    - command: sh salt://steps.sh

#!delayed_block accounts
first account:
  test.succeed_with_changes: []
second account:
  test.nop:
    - require:
      - test: first account
#!end_delayed_block
"""
STEPS = """\
cat <<end
{"name": "one step", "result": true, "comment": ".", "changes": {"port": {"old": 80, "new": 443}}}
{"name": "two", "result": true, "comment": "", "changes": {"diff": "--- a\\n+++ b\\n-x\\n+y\\n"}}
end
"""


def write(place: Path, **files: str) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (place / f"{name}.{'sh' if name == 'steps' else 'sls'}").write_text(text, encoding="utf-8")
    return place


def site(place: Path) -> Path:
    return write(place, web=SITE, base=BASE, late=LATE, steps=STEPS)


def many(place: Path, count: int) -> Path:
    """As many states as a large machine has, a dozen in each file, tied at random but always the same."""
    chance = random.Random(count)
    files: dict[str, str] = {}
    for number in range(count // 12 or 1):
        rows: list[str] = []
        for at in range(12):
            rows.append(f"app{number}_{at}:\n  test.succeed_with_changes:\n    - name: /srv/{number}/{at}\n")
            before = [f"app{number}_{one}" for one in range(max(0, at - 4), at)]
            if before and chance.random() < 0.7:
                kind = chance.choice(["require", "watch", "onchanges"])
                rows.append(f"    - {kind}:\n      - test: {chance.choice(before)}\n")
        files[f"app{number}"] = "".join(rows)
    files["top"] = "base:\n  '*':\n" + "".join(f"    - app{number}\n" for number in range(count // 12 or 1))
    return write(place, **files)


def saltern(*words: str) -> int:
    return run(list(words))
