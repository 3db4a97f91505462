"""What the pages show really runs, and every link leads somewhere."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from tools.pages import ROOT, problems, runnable

PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    ROOT / "bench" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
INTERNALS = [page for page in PAGES if page.parent.name in ("decisions", "internals")]
NAMED = re.compile(r"`([\w/]+\.(?:py|js|css))`")
OF_USERS = frozenset({"_states/test.py"})  # in a tree of states
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
TO_A_HEADING = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)#([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$|<a id=\"([^\"]+)\"", re.MULTILINE)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
FENCES = re.compile(r"```.*?```", re.DOTALL)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def headings(page: Path) -> frozenset[str]:
    """What a link to a part of a page may name, as GitHub makes it of the headings."""
    found = HEADING.findall(FENCES.sub("", page.read_text(encoding="utf-8")))
    return frozenset(
        anchor or re.sub(r"[^\w\- ]", "", _words(text)).replace(" ", "-") for text, anchor in found
    )


def _words(heading: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()


@cache
def source_files() -> frozenset[str]:
    tops = (ROOT / top for top in ("src", "tools", "tests", "bench", "saltext"))
    return frozenset(f"/{path.relative_to(ROOT)}" for top in tops for path in top.rglob("*.*"))


@pytest.mark.parametrize("page", runnable(), ids=name)
def test_the_commands_of_a_page_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    assert list(problems(page, tmp_path)) == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_to_a_part_of_a_page_leads_to_a_heading(page: Path) -> None:
    links = TO_A_HEADING.findall(CODE.sub("", page.read_text(encoding="utf-8")))
    pages = [(page.parent / file if file else page, heading) for file, heading in links]
    assert [
        f"{to.name}#{part}" for to, part in pages if to.suffix == ".md" and part not in headings(to)
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    broken = [link[0] for link in LINK.findall(text) if not (page.parent / link[0]).exists()]
    assert broken == []


@pytest.mark.parametrize("page", INTERNALS, ids=name)
def test_every_file_that_a_page_of_the_internals_names_exists(page: Path) -> None:
    named = set(NAMED.findall(page.read_text(encoding="utf-8"))) - OF_USERS
    assert sorted(one for one in named if not any(path.endswith(f"/{one}") for path in source_files())) == []


def test_every_page_can_be_reached_from_the_index() -> None:
    start = ROOT / "docs" / "index.md"
    seen, left = {start}, [start]
    while left:
        page = left.pop()
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / link[0]).resolve()
            if target.suffix == ".md" and target not in seen and target.exists():
                seen.add(target)
                left.append(target)
    assert [name(page) for page in sorted((ROOT / "docs").rglob("*.md")) if page.resolve() not in seen] == []
