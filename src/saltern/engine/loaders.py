"""Loaders of files for the compiler: of the tree, of one file outside of it, of an already rendered text."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from saltern.engine.session import Session
from saltern.language.delayed import NO_BLOCKS, PREV_RET
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.source import Mark, SlsRef
from saltern.sources.tree import SlsSource

if TYPE_CHECKING:
    from saltern.compiler.ports import Loaded
    from saltern.targeting.top import Assigned


class TreeLoader:
    """Loads and renders the files of the tree."""

    def __init__(self, session: Session) -> None:
        self._tree = session.tree
        self._renderers = session.renderers
        self.asked: dict[SlsRef, Assigned] = {}  # files that the top file assigns

    def where(self, ref: SlsRef) -> Mark | None:
        return self.asked[ref].mark() if ref in self.asked else None

    def source(self, ref: SlsRef) -> SlsSource | None:
        return self._tree.read(ref)

    def load(self, ref: SlsRef) -> Loaded | None:
        source = self._tree.read(ref)
        return None if source is None else self._renderers.sls(source)

    def names(self, env: str) -> list[str]:
        return self._tree.sls_names(env)

    def knows(self, env: str) -> bool:
        return env in self._tree


class TemplateLoader(TreeLoader):
    """Also loads one file from outside the roots under its own name; ``text`` if it is in no file."""

    def __init__(self, session: Session, path: str, env: str, text: str | None = None) -> None:
        super().__init__(session)
        self.ref = SlsRef(env, os.path.basename(path).removesuffix(".sls"))
        text = session.tree.text(path) if text is None else text
        if text is None:
            raise OperationError(Diagnostic(code="template-missing", what=f"there is no file {path!r}"))
        self._source = SlsSource(self.ref, path, os.path.basename(path), text)

    def load(self, ref: SlsRef) -> Loaded | None:
        return self._renderers.sls(self._source) if ref == self.ref else super().load(ref)


class RenderedLoader(TreeLoader):
    """Also loads one rendered text under ``ref``; files that it includes see ``values``.

    A ``block`` has its own name: it may include the file that contains it.
    """

    def __init__(
        self, session: Session, document: Loaded, block: str = "", values: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(session)
        self.ref = SlsRef(document.ref.env, f"{document.ref.name}>{block}") if block else document.ref
        self._document = document
        self._values = self._renderers.without_globals(values or {})

    def load(self, ref: SlsRef) -> Loaded | None:
        if ref == self.ref:
            return self._document
        source = self._tree.read(ref)
        if source is None:
            return None
        document = self._renderers.sls(source, self._values)
        if document.blocks is not NO_BLOCKS:  # scoped blocks in it also see the context
            context = {name: value for name, value in self._values.items() if name != PREV_RET}
            document.blocks.variables = {**context, **document.blocks.variables}
        return document
