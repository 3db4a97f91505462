"""The reference is complete and as the code is."""

from __future__ import annotations

from functools import cache

import pytest
from tools.examples import ROOT
from tools.reference.__main__ import TARGET, pages, stale
from tools.reference.chain_tests import CHAOS, FAULTS, NEEDED, numbered_tests
from tools.reference.errors import collect, notes
from tools.reference.markdown import example

from saltern.cli.commands import COMMANDS
from saltern.config.options import OPTIONS
from saltern.language.keywords import KEYWORDS
from saltern.language.requisites import IN_FORMS, REQUISITES
from saltern.modules.api.registry import FUNCTIONS, STATES, Registry
from saltern.render.filters import FILTERS, TESTS
from saltern.render.pipe import RENDERERS


@cache
def page(path: str) -> str:
    return (TARGET / path).read_text(encoding="utf-8")


def test_every_generated_page_is_what_the_code_makes_of_it_now() -> None:
    assert stale(pages()) == [], "run `make docs`"


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("commands.md", list(COMMANDS)),
        ("options.md", list(OPTIONS)),
        ("requisites.md", [*REQUISITES, *IN_FORMS]),
        ("keywords.md", list(KEYWORDS)),
        ("renderers.md", list(RENDERERS)),
        ("filters.md", [*FILTERS, *TESTS]),
    ],
)
def test_every_row_of_a_table_is_on_its_page(path: str, names: list[str]) -> None:
    assert [name for name in names if f"`{name}`" not in page(path)] == []


def test_every_code_that_is_reported_has_a_heading() -> None:
    assert [code for code in collect() if f"\n## {code}\n" not in page("errors.md")] == []


def test_every_note_belongs_to_a_code_that_exists() -> None:
    assert notes().keys() - collect().keys() == set()


@pytest.mark.parametrize("kind", ["states", "functions"])
def test_every_function_of_a_module_is_documented(kind: str) -> None:
    registry = Registry()
    for module in STATES if kind == "states" else FUNCTIONS:
        text = page(f"modules/{kind}/{module}.md")
        for member in registry.members(kind, module):
            assert f"\n## {module}.{member}\n" in text
            found = (
                registry.state(module, member)
                if kind == "states"
                else registry.function(f"{module}.{member}")
            )
            assert found is not None and found.doc.strip(), f"{module}.{member} has no docstring"
            assert example(found.doc) and example(found.doc) in text, f"{module}.{member} has no example"


def test_every_requisite_is_part_of_an_example() -> None:
    text = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "examples").rglob("*.sls"))
    assert [name for name in (*REQUISITES, *IN_FORMS) if f"- {name}:" not in text] == []


def test_every_fault_of_chains_has_a_test_with_its_number() -> None:
    """Those of network, controller, SSH and control; what runs each is in the table."""
    found = {one.number for one in numbered_tests()}
    assert set(NEEDED) - found == set()
    assert found <= set(FAULTS), "a number that is not in the list"


def test_tests_of_make_chaos_are_in_files_that_it_runs() -> None:
    """A file that the Makefile does not name would never be run."""
    line = next(one for one in (ROOT / "Makefile").read_text().splitlines() if "CHAOS_SECONDS=$$" in one)
    long = {one.file for one in numbered_tests() if one.run_by == CHAOS}
    assert {file for file in long if file not in line} == set()
