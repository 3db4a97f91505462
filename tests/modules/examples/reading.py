"""The examples that the functions' own texts show, by the names of the functions."""

from __future__ import annotations

import re

from msgspec import Struct
from tools.reference.markdown import example

from saltern.modules.api.registry import Registry

BLOCK = re.compile(r"```(?P<language>\w+)\n(?P<text>.*?)\n?```", re.DOTALL)
KINDS = ("states", "functions")
PROMPT = "$ "


class Block(Struct, frozen=True):
    language: str
    text: str


class Example(Struct, frozen=True):
    """``key`` is ``states.file.managed``: the kind, the module, the function."""

    key: str
    blocks: tuple[Block, ...]

    @property
    def kind(self) -> str:
        return self.key.partition(".")[0]

    @property
    def name(self) -> str:
        return self.key.partition(".")[2]

    def text(self, language: str) -> str:
        return "\n".join(block.text for block in self.blocks if block.language == language)


def examples() -> dict[str, Example]:
    """One for every built-in function; without blocks if its text shows none."""
    registry = Registry()
    found: dict[str, Example] = {}
    for kind in KINDS:
        for module in registry.names(kind):
            for member in registry.members(kind, module):
                name = f"{module}.{member}"
                made = registry.state(module, member) if kind == "states" else registry.function(name)
                doc = made.doc if made is not None else ""
                blocks = tuple(Block(one["language"], one["text"]) for one in BLOCK.finditer(example(doc)))
                found[f"{kind}.{name}"] = Example(f"{kind}.{name}", blocks)
    return found


def steps(text: str) -> list[tuple[str, str]]:
    """Each command of a transcript, and what it is said to print. A line that ends with ``\\`` goes on."""
    found: list[tuple[str, str]] = []
    for line in text.replace("\\\n", "").splitlines():
        if line.startswith((PROMPT, "saltern ")):
            found.append((line.removeprefix(PROMPT), ""))
        elif found:
            command, said = found.pop()
            found.append((command, f"{said}{line}\n"))
    return found


def agrees(said: str, printed: str) -> bool:
    """Whether this was printed. ``…`` stands for any text in a line, or alone for any lines.

    Nothing said agrees with everything.
    """
    if not said.strip():
        return True
    lines = (
        r"(?:[^\n]*\n)*" if line.strip() == "…" else "[^\n]*".join(map(re.escape, line.split("…"))) + "\n"
        for line in said.strip("\n").split("\n")
    )
    told = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").split("\n"))
    return re.fullmatch("".join(lines), told) is not None
