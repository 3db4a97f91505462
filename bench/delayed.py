"""W8: a run with 1,000 delayed frames, beside the same states in as many files.

``blocks`` is one block that 1,000 states call; ``own`` gives each of them a block of its own, all in one
file; ``sls`` renders a whole file each time. ``files`` is the yardstick: 1,000 files of the same text,
included. What the 1,000 calling states cost by themselves is taken off both.
"""

from __future__ import annotations

import os
from collections.abc import Callable

FRAMES = 1000
FEW = 200
BIG = 30_000  # characters that a frame renders and nobody needs
SHAPES = ("blocks", "own", "sls")

# shape: at most this many times the yardstick's CPU for each frame.
MOST = 3.0
# A frame may leave this many kB behind: its answers, whatever it has rendered.
KILOBYTES = 12.0

Measure = Callable[[str], tuple[float, float]]  # the name of a tree → CPU seconds, MB

BODY = """\
{{% set wanted = {name} %}}
first{id}:
  test.nop:
    - name: {{{{ wanted }}}}-first
second{id}:
  test.nop:
    - name: {{{{ wanted }}}}-second
    - require:
      - test: first{id}
"""
DELAYED = BODY.format(name="prev_ret.name", id="")
CALLER = "c{0:04d}:\n  test.nop:\n    - delayed_render:\n      - {1}\n"


def write(root: str) -> None:
    """All trees, each a directory with a ``tree.sls``."""
    callers = range(FRAMES)
    one = "".join(CALLER.format(at, "block: B") for at in callers)
    own = "".join(CALLER.format(at, f"block: B{at}") + _block(f"B{at}") for at in callers)
    sls = "".join(CALLER.format(at, "sls: other") for at in callers)
    plain = "".join(f"c{at:04d}:\n  test.nop: []\n" for at in callers)
    included = "include:\n" + "".join(f"  - f{at:04d}\n" for at in callers)
    _tree(root, "none", {"tree": plain})
    _tree(root, "blocks", {"tree": one + _block("B")})
    _tree(root, "own", {"tree": own})
    _tree(root, "sls", {"tree": sls, "other": f"#!delayed_sls delayed_repeat_limit=None\n{DELAYED}"})
    parts = {f"f{at:04d}": BODY.format(name=f"'c{at:04d}'", id=f"{at:04d}") for at in callers}
    _tree(root, "files", {"tree": included + plain, **parts})
    large = f"# {{{{ 'x' * {BIG} }}}}\n"
    for name, count in (("few", FEW), ("many", FRAMES)):
        some = "".join(CALLER.format(at, "block: B") for at in range(count))
        _tree(root, name, {"tree": some + _block("B", large)})


def _block(name: str, above: str = "") -> str:
    return f"#!delayed_block {name} delayed_repeat_limit=None\n{above}{DELAYED}#!end_delayed_block\n"


def _tree(root: str, name: str, files: dict[str, str]) -> None:
    os.makedirs(f"{root}/{name}")
    for path, text in files.items():
        with open(f"{root}/{name}/{path}.sls", "w", encoding="utf-8") as file:
            file.write(text)


def rows(measure: Measure, rounds: int) -> list[tuple[str, float, float]]:
    """Name, value and the most it may be."""
    cpu: dict[str, float] = {}
    memory: dict[str, float] = {}
    for _ in range(rounds):
        for name in ("none", "files", *SHAPES, "few", "many"):
            used, size = measure(name)
            cpu[name] = min(used, cpu.get(name, used))
            memory[name] = min(size, memory.get(name, size))
    yardstick = cpu["files"] - cpu["none"]
    found = [(f"W8.frames1k {name}", (cpu[name] - cpu["none"]) / yardstick, MOST) for name in SHAPES]
    each = (memory["many"] - memory["few"]) * 1024 / (FRAMES - FEW)
    return [*found, ("W8.frames1k kB each", each, KILOBYTES)]
