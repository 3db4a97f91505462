"""All Salt-style modules of one run. Two libraries share nothing.

``own`` are the user's (``_states`` and the like in the roots, ``extension_modules``, ``module_dirs``);
``installed`` are those of an installed Salt, which are searched last. Both are a ``Provider`` of a registry.
``bind`` is called once the run is built, as for ``Salt``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

from saltern.compat.call_namespaces import Functions, Serializers, States, Utilities
from saltern.compat.dunders import VALUES, Call, current
from saltern.compat.installed_salt import InstalledSalt, installed_salt
from saltern.compat.loader import Unavailable, name_modules
from saltern.compat.loader import run as run_file
from saltern.compat.places import directories
from saltern.compat.provider import Shelf
from saltern.compat.results import to_salt
from saltern.config.settings import Settings, cache_directory
from saltern.language.events import ChunkFinished, Event
from saltern.modules.api.context import Context

if TYPE_CHECKING:
    from saltern.modules.api.context import Run
    from saltern.modules.api.registry import Registry


class Library:
    def __init__(self, settings: Settings, *, find_salt: Callable[[], str] | None = None) -> None:
        """``find_salt`` returns the directory of an installed Salt, or nothing."""
        self._settings = settings
        self.salt = InstalledSalt(find_salt or installed_salt)
        self._run: Run | None = None
        self._registry: Registry | None = None
        self._idle: Call | None = None
        self._imported: dict[str, ModuleType] = {}
        self.modules: dict[str, ModuleType] = {}  # all loaded modules, by their names in Python
        self.own = Shelf(self, lambda kind: directories(settings, kind))
        self.installed = Shelf(
            self, self.salt.directories, provider="salt", cache=lambda: cache_directory(settings)
        )
        self.functions: Functions = Functions(self)
        self.states: States = States(self)
        self.utilities: Utilities = Utilities(self)
        self.serializers: Serializers = Serializers(self)
        self.running: dict[str, Any] = {}  # Salt's ``__running__``: the results so far

    def bind(self, run: Run, registry: Registry) -> None:
        self._run = run
        self._registry = registry

    @property
    def registry(self) -> Registry:
        assert self._registry is not None, "call bind() first"
        return self._registry

    def hear(self, event: Event) -> None:
        """Receive the events of the run, for ``__running__``."""
        if isinstance(event, ChunkFinished):
            answer = event.answer
            more = {"__run_num__": answer.number, "__id__": answer.chunk.id, "__sls__": answer.chunk.sls}
            self.running[answer.chunk.tag] = {**to_salt(answer.result, answer.chunk.name), **more}

    def forget(self) -> None:
        """Forget which modules are missing: a state may have installed them."""
        for shelf in (self.own, self.installed):
            shelf.forget()
        for view in (self.functions, self.states, self.utilities):
            view.forget()

    # -- calls -----------------------------------------------------------------------------------

    def call(self) -> Call:
        """The current call; outside of any, one without a chunk."""
        running = current.get()
        if running is not None and running.library is self:
            return running
        if self._idle is None:
            assert self._run is not None, "call bind() first"
            self._idle = Call(Context(self._run, test=bool(self._settings.test)), self)
        return self._idle

    @contextmanager
    def enter_call(self, ctx: Context, module: ModuleType) -> Iterator[None]:
        """Make this the current call while the engine calls a module; nested calls belong to it."""
        before = current.get()
        nested = before is not None and before.library is self and before.ctx is ctx
        token = None if nested else current.set(Call(ctx, self))
        values = {name: lookup(self.call()) for name, lookup in VALUES.items()}
        kept = {name: vars(module).get(name) for name in VALUES}
        vars(module).update(values)
        try:
            with self._name_modules(module, before):
                yield
        finally:
            vars(module).update(kept)
            if token is not None:
                current.reset(token)

    @contextmanager
    def idle(self, module: ModuleType) -> Iterator[None]:
        """Give the views access to this library while a module is loaded and inspected."""
        before = current.get()
        token = current.set(self.call())
        try:
            with self._name_modules(module, before):
                yield
        finally:
            current.reset(token)

    @contextmanager
    def _name_modules(self, module: ModuleType, before: Call | None) -> Iterator[None]:
        """All of the library's modules, from the first call into it to the end of that call."""
        if before is not None and before.library is self:
            self.show(module)
            yield
        else:
            with name_modules({**self.modules, module.__name__: module}):
                yield

    def show(self, module: ModuleType) -> None:
        """Make a module importable under its name, if a call is running."""
        if current.get() is not None:
            sys.modules[module.__name__] = module

    # -- for modules -------------------------------------------------------------------

    @cached_property
    def utility_directories(self) -> list[str]:
        return directories(self._settings, "utils")

    def import_file(self, path: str) -> ModuleType:
        """Load a file that a module imports, once per run."""
        if path not in self._imported:
            try:
                run_file(self, path, "utils", known=self._imported)
            except Unavailable as problem:
                self._imported.pop(path, None)
                raise ImportError(str(problem), path=path) from None
        return self._imported[path]

    def preferred_provider(self, name: str) -> str:
        chosen = self._settings.extra.get("providers")
        return str(chosen.get(name, "")) if isinstance(chosen, dict) else ""
