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
KILLED = """\
first:
  test.nop: []
kills its engine:
  cmd.run:
    - name: kill -9 $(awk '/^PPid/ {print $2}' /proc/$PPID/status)
last:
  test.nop:
    - require:
      - test: left
left:
  test.nop: []
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
    return write(place, web=SITE, base=BASE, late=LATE, steps=STEPS, killed=KILLED, empty="")


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


def hub(place: Path, parts: int) -> Path:
    """Many small parts with nothing in common but the repository and the file that all of them require."""
    files = {"base": "repository:\n  test.nop: []\nkeys:\n  test.nop: []\n"}
    for number in range(parts):
        rows = [
            f"include:\n  - base\n{kind} {number}:\n  test.nop:\n    - require:\n      - {what}\n"
            for kind, what in (("package", "sls: base"), ("file", f"test: package {number}"))
        ]
        files[f"part{number}"] = rows[0] + rows[1].removeprefix("include:\n  - base\n")
    files["top"] = "base:\n  '*':\n" + "".join(f"    - part{number}\n" for number in range(parts))
    return write(place, **files)


HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror='window.hacked = 2'>",
    "quote\" and ' and `tick` and ${window.hacked = 3}",
    "<!-- comment",
    "]]> &lt; &amp;",
    "bidi \u202egnp.exe",
    "two\nlines",
    "ünï — 日本語",
    "a" * 300,
)


def hostile(place: Path) -> Path:
    """States whose names, comments and changes would like to be something else."""
    text = f"""#!py
def run():
    names = {HOSTILE!r}
    return {{
        name: {{"test.configurable_test_state": [
            {{"changes": True}}, {{"comment": name}}, {{"result": at % 2 == 0}}, {{"name": name + name}},
        ]}}
        for at, name in enumerate(names)
    }}
"""
    return write(place, hostile=text)


def saltern(*words: str) -> int:
    return run(list(words))


def failing(place: Path, states: int) -> Path:
    """Many files; in two of them a state fails, and three wait for it."""
    place.mkdir(parents=True)
    parts = [f"part{at}" for at in range(10)]
    for name in parts:
        text = "".join(f"{name} state {at}:\n  test.nop: []\n" for at in range(states // len(parts)))
        if name in ("part2", "part7"):
            text += f"{name} fails:\n  test.fail_without_changes: []\n"
            waits = f"  test.nop:\n    - require:\n      - test: {name} fails\n"
            text += "".join(f"{name} waits {at}:\n{waits}" for at in range(3))
        (place / f"{name}.sls").write_text(text, encoding="utf-8")
    listed = "".join(f"    - {name}\n" for name in parts)
    (place / "top.sls").write_text(f"base:\n  '*':\n{listed}", encoding="utf-8")
    return place
