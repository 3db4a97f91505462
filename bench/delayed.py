"""W8: a run with 1,000 delayed frames, beside the same states in as many files.

``blocks`` is one block that 1,000 states call; ``own`` gives each of them a block of its own, all in one
file; ``sls`` renders a whole file each time; ``list`` calls a block 1,000 times from one state. The
yardstick is ``files``: 1,000 files of the same text, included. What the 1,000 calling states cost by
themselves is taken off both. ``large`` is ``blocks`` with much text in each frame.
"""

from __future__ import annotations

import os
from collections.abc import Callable

FRAMES = 1000
BIG = 30_000  # characters that a frame renders and nobody needs
SHAPES = ("blocks", "own", "sls", "list")

# shape: at most this many times the yardstick's CPU for each frame.
MOST = 3.0
# So many kB may be kept of each frame's text when it has run: none, but memory is measured roughly.
KILOBYTES = 3.0

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
    calls = CALLER.format(FRAMES, "block: B") + "      - block: B\n" * (FRAMES - 1)
    _tree(root, "list", {"tree": plain + calls + _block("B")})
    parts = {f"f{at:04d}": BODY.format(name=f"'c{at:04d}'", id=f"{at:04d}") for at in callers}
    _tree(root, "files", {"tree": included + plain, **parts})
    large = f"# {{{{ 'x' * {BIG} }}}}\n"
    _tree(root, "large", {"tree": one + _block("B", large)})


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
        for name in ("none", "files", *SHAPES, "large"):
            used, size = measure(name)
            cpu[name] = min(used, cpu.get(name, used))
            memory[name] = max(size, memory.get(name, size))  # the first round compiles templates
    yardstick = cpu["files"] - cpu["none"]
    found = [(f"W8.frames1k {name}", (cpu[name] - cpu["none"]) / yardstick, MOST) for name in SHAPES]
    kept = (memory["large"] - memory["blocks"]) * 1024 / FRAMES
    return [*found, ("W8.frames1k kB kept", kept, KILOBYTES)]
