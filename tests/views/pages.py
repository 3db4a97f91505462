"""Pages for the browser to open: of plans, and of runs that really took place."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page
from tests.views import trees
from tests.views.trees import saltern

TREES: dict[str, Callable[[Path], Path]] = {
    "site": trees.site,
    "many": lambda place: trees.many(place, 504),
    "hub": lambda place: trees.hub(place, 40),
    "huge": lambda place: trees.many(place, 5004),
    "unfolded": lambda place: trees.many(place, 2400),  # the most that is drawn state by state
    "hostile": trees.hostile,
    "failing": lambda place: trees.failing(place, 500),
}


class Pages:
    def __init__(self, place: Path) -> None:
        self._place = place

    def tree(self, name: str) -> Path:
        place = self._place / name
        return place if place.exists() else TREES[name](place)

    def graph(self, tree: str, *sls: str) -> str:
        """The address of a page of what would run."""
        file = self._place / f"graph-{tree}-{'-'.join(sls)}.html"
        return self._address(file, "graph", *sls, "--file-root", str(self.tree(tree)))

    def run(self, kind: str, tree: str, *sls: str) -> str:
        """The address of a page of what did run: a ``graph`` of it, or its ``report``."""
        name = "-".join((tree, *sls))
        os.environ["SALTERN_STATE_DIR"] = str(self._place / f"state-{name}")  # so that it is the last one
        if not os.path.exists(os.environ["SALTERN_STATE_DIR"]):
            words = ["apply", *sls, "--file-root", str(self.tree(tree)), "--out", "quiet"]
            subprocess.run([sys.executable, "-m", "saltern", *words], check=False)
        kinds = {"graph": ("graph", "--run", "last"), "report": ("report", "--html")}
        return self._address(self._place / f"{kind}-of-run-{name}.html", *kinds[kind])

    def _address(self, file: Path, *words: str) -> str:
        if not file.exists():
            assert saltern(*words, "-o", str(file)) == 0
        return file.as_uri()


def titles(page: Page) -> list[str]:
    """What the rows of a report are called, as far as they are seen."""
    return page.locator(".row:visible > .line .title").all_text_contents()


def view_box(page: Page) -> tuple[float, float, float, float]:
    x, y, width, height = (page.locator("#graph").get_attribute("viewBox") or "").split()
    return float(x), float(y), float(width), float(height)


def until(page: Page, condition: str) -> None:
    """Wait for it. Playwright's own way to do so is forbidden by the policy of our pages."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"it never came to be: {condition}")
