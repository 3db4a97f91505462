"""Small pieces of Markdown, and docstrings turned into it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence

GENERATED = "<!-- Made by `make docs` from the code; do not edit. -->\n"


def page(title: str, *parts: str) -> str:
    return "\n".join([GENERATED, f"# {title}\n", *(part.rstrip() + "\n" for part in parts if part)])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [_row(head), _row(["---"] * len(head)), *map(_row, rows)]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def code(text: object) -> str:
    """Inline code; empty text stays empty."""
    return f"`{text}`" if str(text) else ""


def shown(value: object) -> str:
    """A default value, as YAML would write it."""
    words = {True: "true", False: "false", None: "none"}
    if value is None or isinstance(value, bool):
        return words[value]
    if value == "" or value == [] or value == {} or value == ():
        return "empty"
    return code(value) if len(str(value)) < 60 else "see the source"


def prose(text: str) -> str:
    """The markup of a docstring as Markdown."""
    return re.sub(r"``([^`]+)``", r"`\1`", text)


ARGUMENT = re.compile(r"(?P<names>[\w*]+(?:, [\w*]+)*): (?P<text>.*)")


def example(text: str) -> str:
    """The block below ``Example:``, fenced or marked ``.. code-block:: yaml``, as Markdown; empty if none."""
    _, found, rest = inspect.cleandoc(text).partition("\nExample:\n")
    shown = inspect.cleandoc(rest) if found else ""
    mark, _, body = shown.partition("\n")
    if not mark.startswith(".. code-block::"):
        return shown
    return f"```{mark.rpartition(' ')[2]}\n{inspect.cleandoc(body)}\n```"


def docstring(text: str) -> tuple[str, dict[str, str]]:
    """The text of a docstring without its example, and the text of each argument.

    Several names may share a line.
    """
    text = inspect.cleandoc(text).partition("\nExample:\n")[0]
    said: list[str] = []
    arguments: dict[str, str] = {}
    current: list[str] = []
    inside = False
    for line in inspect.cleandoc(text).splitlines():
        if line.strip() == "Args:":
            inside = True
        elif not inside or (line and not line.startswith(" ")):
            inside = False
            said.append(line)
        elif line.startswith("        ") and current:
            for name in current:
                arguments[name] += f" {line.strip()}"
        elif match := ARGUMENT.match(line.strip()):
            current = [name.strip() for name in match["names"].split(",")]
            arguments |= dict.fromkeys(current, match["text"])
        elif line.strip():  # a list of names that goes on in the next line
            current = _more(line, current, arguments)
    return prose("\n".join(said).strip()), {name: prose(text) for name, text in arguments.items()}


def _more(line: str, current: list[str], arguments: dict[str, str]) -> list[str]:
    names = [name.strip() for name in line.split(",") if name.strip()]
    arguments |= dict.fromkeys(names, "")
    return [*current, *names]
