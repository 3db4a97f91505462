"""Parse and edit the text of interfaces(5) by interface; everything else is kept."""

from __future__ import annotations

from msgspec import Struct

STARTS = ("iface", "mapping", "auto", "rename", "source", "source-directory", "template")
MARKS = ("auto", "allow-hotplug")  # lines that name interfaces and have no block


class Block(Struct, frozen=True):
    """Lines that belong together: a stanza, a line that names interfaces, or comments between them."""

    lines: tuple[str, ...]
    kind: str = ""  # its first word; empty for comments
    names: tuple[str, ...] = ()

    def without(self, name: str) -> Block | None:
        """The line without an interface; None if it names no other."""
        left = tuple(one for one in self.names if one != name)
        return Block((" ".join((self.kind, *left)) + "\n",), self.kind, left) if left else None


def _starts(word: str) -> bool:
    return word in STARTS or word.startswith(("allow-", "no-"))


def parse(text: str) -> list[Block]:
    """The blocks; their lines, one after the other, are the text."""
    blocks: list[Block] = []
    loose: list[str] = []  # comments and empty lines, which may turn out to be inside a stanza
    for line in _join_lines(text):
        words = line.replace("\\\n", " ").split()
        if not words or words[0].startswith("#"):
            loose.append(line)
        elif _starts(words[0]) or not blocks:
            blocks += [Block(tuple(loose))] if loose else []
            names = tuple(words[1:2] if words[0] == "iface" else words[1:])
            blocks.append(Block((line,), words[0], names))
            loose = []
        else:
            last = blocks.pop()
            blocks.append(Block((*last.lines, *loose, line), last.kind, last.names))
            loose = []
    return [*blocks, Block(tuple(loose))] if loose else blocks


def _join_lines(text: str) -> list[str]:
    """The lines, each joined with its continuation lines."""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        if lines and lines[-1].endswith("\\\n") and not lines[-1].lstrip().startswith("#"):
            lines[-1] += line
        else:
            lines.append(line)
    return lines


def lines_of(blocks: list[Block], name: str) -> list[str]:
    """The lines of an interface, without comments, with options indented by four spaces."""
    lines = [
        f"{mark} {name}\n"
        for mark in MARKS
        if any(block.kind == mark and name in block.names for block in blocks)
    ]
    for block in blocks:
        if block.kind == "iface" and block.names == (name,):
            bare = [" ".join(line.replace("\\\n", " ").split()) for line in block.lines]
            kept = [line for line in bare if line and not line.startswith("#")]
            lines += [f"{kept[0]}\n", *(f"    {line}\n" for line in kept[1:])]
    return lines


def concerns(block: Block, name: str) -> bool:
    return block.kind in (*MARKS, "iface") and name in block.names


def replace_stanza(text: str, name: str, lines: list[str]) -> str:
    """The text with these lines for the interface, at its first position or at the end."""
    out: list[str] = []
    left = list(lines)
    for block in parse(text):
        if not concerns(block, name):
            out += block.lines
            continue
        shared = block.without(name) if block.kind != "iface" else None
        out += shared.lines if shared else ()
        if block.kind == "iface" or shared is None:
            out += left
            left = []
    if left and out:
        out[-1] = out[-1] if out[-1].endswith("\n") else f"{out[-1]}\n"
        out += ["\n"] if out[-1].strip() else []
    return "".join([*out, *left])
