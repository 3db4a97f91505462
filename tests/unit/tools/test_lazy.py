"""Imports within functions: which of them save nothing."""

from __future__ import annotations

import pytest
from tools.lazy import module_of, needless, parsed

BASE = {"a.py": "import saltern.b\n", "b.py": "from saltern import c\n", "c.py": "", "d.py": ""}


def found(text: str) -> list[str]:
    return list(needless(parsed({**BASE, "a.py": f"import saltern.b\n{text}"}.items())))


@pytest.mark.parametrize("line", ["import saltern.c", "from saltern import c", "from saltern.c import x"])
def test_what_is_loaded_through_others_is_needless(line: str) -> None:
    assert found(f"def f():\n    {line}\n") == [
        "saltern.a:3: saltern.c is loaded anyway: import it at the top"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    import saltern.d\n",
        "if TYPE_CHECKING:\n    import saltern.d\ndef f():\n    import saltern.d\n",
        "def f():\n    import saltern.a\n",
        "def f():\n    from msgspec import json\n",
    ],
)
def test_what_is_not_loaded_yet_is_not(text: str) -> None:
    assert found(text) == []


def test_a_file_is_known_by_the_name_of_its_module() -> None:
    assert module_of("cli/main.py") == "saltern.cli.main"
    assert module_of("fleet/bus/__init__.py") == "saltern.fleet.bus"
