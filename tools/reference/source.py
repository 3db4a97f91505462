"""One line for each file of the package."""

from __future__ import annotations

import ast
from pathlib import Path

from tools.reference.markdown import code, page, prose, table

SOURCE = Path(__file__).parent.parent.parent / "src" / "saltern"


def source() -> str:
    parts = [
        "Every file of `src/saltern`, with the beginning of its docstring. The order in which to read them:"
        " [the walk](../internals/architecture.md)."
    ]
    for folder in sorted({file.parent for file in SOURCE.rglob("*.py")}):
        files = [file for file in sorted(folder.glob("*.py")) if file.name != "__init__.py"]
        rows = [(code(file.name), _opening(file)) for file in files]
        about = _opening(folder / "__init__.py") if (folder / "__init__.py").exists() else ""
        if rows:
            name = folder.relative_to(SOURCE.parent)
            parts.append(f"## {name}\n\n{about}\n\n{table(('file', 'what it is'), rows)}")
    return page("Source files", *parts)


def _opening(file: Path) -> str:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return prose(" ".join(text.partition("\n\n")[0].split()))
