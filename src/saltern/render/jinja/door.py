"""The interface to Jinja, which is imported only for a text that has something to render.

Importing Jinja costs as much as the rest of a small run; a file without ``{{``, ``{%`` or
``{#`` avoids that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from saltern.render.document import Rendered
from saltern.render.jinja.header import HEADER

if TYPE_CHECKING:
    from typing import Protocol

    from saltern.render.document import Harvest, LineMap
    from saltern.render.jinja.renderer import JinjaRenderer
else:
    Protocol = object  # importing the real one is too slow

MARKERS = ("{{", "{%", "{#")


class Jinja(Protocol):
    def render(
        self,
        text: str,
        values: Mapping[str, object],
        *,
        env: str,
        name: str,
        file: str,
        purpose: str,
        before: LineMap | None,
        harvest: Harvest | None,
        part: str,
    ) -> Rendered: ...

    def compiles(self, text: str, *, env: str, name: str, file: str) -> None: ...

    def ahead(self, texts: Iterable[tuple[str, str, str, str]]) -> None: ...


class JinjaDoor:
    """``make`` builds the renderer when needed; ``plain``: the purposes without line statements."""

    def __init__(self, make: Callable[[], JinjaRenderer], plain: Mapping[str, bool]) -> None:
        self._make = make
        self._plain = plain
        self._renderer: JinjaRenderer | None = None

    def render(
        self,
        text: str,
        values: Mapping[str, object],
        *,
        env: str,
        name: str,
        file: str,
        purpose: str = "sls",
        before: LineMap | None = None,
        harvest: Harvest | None = None,
        part: str = "",
    ) -> Rendered:
        plain = self._plain.get(purpose, True) and not (
            HEADER in text and text.lstrip("\n").startswith(HEADER)
        )
        if plain and not any(marker in text for marker in MARKERS):
            return Rendered(text, before)
        if self._renderer is None:
            self._renderer = self._make()
        pieces = self._renderer.render(
            text, values, env=env, name=name, file=file, purpose=purpose, harvest=harvest, part=part
        )
        return Rendered(pieces.text(), pieces.lines)

    def compiles(self, text: str, *, env: str, name: str, file: str) -> None:
        """Raise ``CompileError`` if the text is not a valid template; nothing is rendered."""
        if any(marker in text for marker in MARKERS):
            if self._renderer is None:
                self._renderer = self._make()
            self._renderer.compiles(text, env=env, name=name, file=file)

    def ahead(self, texts: Iterable[tuple[str, str, str, str]]) -> None:
        """Compile many templates at once, each a text, its saltenv, name and file; mistakes are not
        reported.
        """
        templates = [one for one in texts if any(marker in one[0] for marker in MARKERS)]
        if templates:
            if self._renderer is None:
                self._renderer = self._make()
            self._renderer.ahead(templates)
