"""User-defined runners: Python files in ``_runners`` of the tree, written as for a Salt master."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from saltern.engine.session import Session
from saltern.modules.api.context import Context

RunnerCall = Callable[..., object]


class RunnerFunctions:
    """``__salt__`` as runners see it: other runners, then the execution functions of this machine."""

    def __init__(self, runner: Callable[[str], RunnerCall | None], session: Session) -> None:
        self._runner = runner
        self._session = session

    def __getitem__(self, name: str) -> RunnerCall:
        return self._runner(name) or self._session.salt[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (self._runner(name) is not None or name in self._session.salt)

    def get(self, name: str, default: object = None) -> object:
        return self[name] if name in self else default  # noqa: SIM401 - it is what is written here

    def __iter__(self) -> Iterator[str]:
        return iter(())


class OwnRunners:
    """The runners of one session. ``others`` finds what a runner may call as ``__salt__``."""

    def __init__(self, session: Session, others: Callable[[str], RunnerCall | None]) -> None:
        self._session = session
        self._functions = RunnerFunctions(lambda name: self.get(name) or others(name), session)

    def get(self, name: str) -> RunnerCall | None:
        """The runner of this name, if the tree has it."""
        module, _, function = name.partition(".")
        for one in self._session.library.own.usable_modules("runners"):
            if module in one.names and function in one.functions:
                return self._call(one, function)
        return None

    def _call(self, one: Any, function: str) -> RunnerCall:
        body = one.functions[function]

        def call(*args: object, **kwargs: object) -> object:
            with self._session.library.enter_call(Context(self._session.run), one.module):
                vars(one.module)["__salt__"] = self._functions
                return body(*args, **kwargs)

        call.__wrapped__ = body  # type: ignore[attr-defined]  # its signature is that of the user's function
        return call
