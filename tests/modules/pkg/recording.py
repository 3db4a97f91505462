"""What the real programs said, kept in text files, and played again where they are not.

A file has blocks: ``$ command``, ``# exit code``, then its output (``|``) and its errors (``!``). A command
that changes something begins the next chapter, so the same question may have another answer later.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from saltern.system.host import LocalHost
from saltern.system.process import Ran

RECORDED = Path(__file__).parent / "recorded"
CHANGES = re.compile(
    r"^dnf (?:-y|-q (?:-y|versionlock (?:add|delete)))\b"
    r"|^zypper --non-interactive (?!--xmlout)(?!info)"
    r"|^pacman --noconfirm"
    r"|^apk (?:add|del|fix|upgrade|update)\b(?!.*--simulate)"
)


def line_of(command: str | Sequence[str]) -> str:
    return command if isinstance(command, str) else shlex.join(command)


class Recorder(LocalHost):
    """The real machine; all that was run is written down."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.chapter: set[str] = set()

    def run(self, command: str | Sequence[str], **options: object) -> Ran:
        ran = LocalHost.run(command, **options)  # type: ignore[arg-type]
        line = line_of(command)
        if line not in self.chapter:
            self.chapter.add(line)
            self.blocks.append(block(line, ran))
        if CHANGES.match(line):
            self.chapter.clear()
        return ran


def block(line: str, ran: Ran) -> str:
    rows = [f"$ {line}".replace("\n", "\\n"), f"# {ran.code}"]
    rows += [f"|{row}" for row in ran.out.split("\n")] + [f"!{row}" for row in ran.err.split("\n") if row]
    return "".join(f"{row}\n" for row in rows)


class Player(LocalHost):
    """Answers from a recording: only what was asked when it was made. Files are not written."""

    def __init__(self, path: Path) -> None:
        self.chapters: list[dict[str, Ran]] = [{}]
        for part in re.split(r"^(?=\$ )", path.read_text(), flags=re.MULTILINE)[1:]:
            line, ran = _read(part)
            self.chapters[-1][line] = ran
            if CHANGES.match(line):
                self.chapters.append({})

    def run(self, command: str | Sequence[str], **_: object) -> Ran:
        line = line_of(command).replace("\n", "\\n")
        assert line in self.chapters[0], f"not recorded: {line}"
        ran = self.chapters[0][line]
        if CHANGES.match(line):
            self.chapters.pop(0)
        return ran

    def write(self, path: str, data: str | bytes, *, mode: int | None = None) -> None:
        raise AssertionError(f"a recording cannot write {path}")


def _read(text: str) -> tuple[str, Ran]:
    head, code, *rows = text.removesuffix("\n").split("\n")
    out = "\n".join(row[1:] for row in rows if row.startswith("|"))
    err = "\n".join(row[1:] for row in rows if row.startswith("!"))
    return head[2:], Ran(int(code[2:]), out, err)


VERSION = re.compile(r"\d+(\.\d+)+")


def save(host: Recorder, place: str, tool: str, name: str) -> None:
    """Keep what was recorded in a directory for the version of the tool."""
    version = VERSION.search(LocalHost.run([tool, "--version"]).out)
    assert version is not None
    path = Path(place) / f"{tool}-{version[0]}" / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(host.blocks))
