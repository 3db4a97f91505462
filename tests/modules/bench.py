"""A bench to try states of the machine on: every call goes the way a chunk of a run goes."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
from tests import kit

from saltern.config.settings import Settings
from saltern.language.result import Outcome, Result
from saltern.modules.api.caller import ModuleCaller
from saltern.modules.api.context import Context, Run
from saltern.modules.api.registry import Registry
from saltern.modules.api.salt import Salt
from saltern.sources.tree import Tree
from saltern.system.clock import FakeClock
from saltern.system.host import Host, LocalHost
from saltern.system.process import Ran


@contextmanager
def alone() -> Iterator[None]:
    """One test at a time, of all workers and all runs: there is only one machine."""
    with open(os.path.join(tempfile.gettempdir(), f"saltern-tests-{os.geteuid()}.lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def needs_root(*programs: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Marks a test that changes this machine; it is skipped without root or one of the programs."""
    from shutil import which

    missing = [one for one in programs if which(one) is None]
    why = "needs root" if os.geteuid() else f"needs {', '.join(missing)}" if missing else ""

    def mark(test: Callable[..., None]) -> Callable[..., None]:
        for sign in (pytest.mark.machine, pytest.mark.skipif(bool(why), reason=why)):
            test = sign(test)
        return test

    return mark


class ScriptedHost(LocalHost):
    """Programs answer from a table, by the beginning of their command line; files are the real ones.

    An answer may be a function of the command line, for programs that remember what was done.
    """

    Answer = Ran | Callable[[list[str]], Ran]

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self.answers = dict(answers)
        self.asked: list[str] = []
        self.fed: list[str] = []

    def run(self, command: str | Sequence[str], **options: object) -> Ran:
        argv = command.split() if isinstance(command, str) else list(command)
        line = " ".join(argv)
        self.asked.append(line)
        if options.get("stdin"):
            self.fed.append(str(options["stdin"]))
        for start in sorted(self.answers, key=len, reverse=True):
            if line.startswith(start):
                answer = self.answers[start]
                return answer if isinstance(answer, Ran) else answer(argv)
        return Ran(127, err=f"{argv[0]}: no such file or directory")


class Bench:
    """States of one module (and functions of some), with a run of their own."""

    def __init__(
        self,
        base: Path,
        module: ModuleType,
        *,
        functions: Mapping[str, ModuleType] | None = None,
        host: Host | None = None,
        opts: Mapping[str, object] | None = None,
        grains: Mapping[str, object] | None = None,
    ) -> None:
        self.state = module.__name__.rpartition(".")[2]
        registry = Registry(states={self.state: module}, functions=functions or {})
        self.tree = base / "states"
        self.tree.mkdir(exist_ok=True)
        salt = Salt(registry)
        self.run = Run(
            settings=Settings(cachedir=str(base / "cache")),
            grains=dict(grains or {"id": "here", "os": "Debian", "os_family": "Debian"}),
            pillar={},
            opts={"id": "here", **(opts or {})},
            files=Tree({"base": [str(self.tree)]}),
            templates=BraceTemplates(),
            functions=salt,
            host=host or LocalHost(),
            clock=FakeClock(),
        )
        salt.bind(self.run)
        self.salt = salt
        self.caller = ModuleCaller(registry, self.run)

    def context(self, *, test: bool = False) -> Context:
        return Context(self.run, test=test)

    def call(self, fun: str, name: str, *, test: bool = False, **args: object) -> Result:
        return self._called(fun, name, args, test=test)

    def _called(self, fun: str, name: str, args: dict[str, object], *, test: bool = False) -> Result:
        chunk = kit.chunk("it", state=self.state, fun=fun, name=name, more=args)
        return self.caller.call(chunk, chunk.args, test=test)

    def react(self, fun: str, name: str, *, test: bool = False, **args: object) -> Result:
        """What happens when something it watches has changed."""
        chunk = kit.chunk("it", state=self.state, fun=fun, name=name, more=args)
        return self.caller.react(chunk, chunk.args, fun=fun, test=test)

    def change(self, fun: str, name: str, **args: object) -> Result:
        """Test, run, run again: the test foretells the run, and the second run has nothing to do."""
        foreseen = self._called(fun, name, args, test=True)
        assert foreseen.outcome is Outcome.WOULD_CHANGE, foreseen
        assert foreseen.changes
        assert self._called(fun, name, args, test=True) == foreseen, "a test must change nothing"
        done = self._called(fun, name, args)
        assert done.outcome is Outcome.OK, done
        assert foreseen.changes == done.changes
        again = self.same(fun, name, **args)
        assert again.data == done.data
        return done

    def same(self, fun: str, name: str, **args: object) -> Result:
        """Nothing to do, in test mode and in a run."""
        for test in (True, False):
            result = self._called(fun, name, args, test=test)
            assert (result.outcome, result.changes) == (Outcome.OK, {}), result
            assert result.data
        return result

    def refusal(self, fun: str, name: str, **args: object) -> str:
        """The comment of a call that fails and changes nothing."""
        result = self._called(fun, name, args)
        assert (result.outcome, result.changes) == (Outcome.FAILED, {}), result
        assert "Traceback" not in result.comment
        assert " failed: " not in result.comment, "an exception nobody thought of"
        return result.comment


class BraceTemplates:
    """Replaces ``{name}`` by its value, whatever the engine is called."""

    def text(
        self,
        text: str,
        *,
        engine: str,
        env: str,
        path: str = "",
        sls: str = "",
        values: Mapping[str, object] | None = None,
    ) -> str:
        return text.format(**(values or {}))

    def data(
        self,
        text: str,
        *,
        pipe: str,
        env: str,
        path: str = "",
        sls: str = "",
        values: Mapping[str, object] | None = None,
    ) -> object:
        raise NotImplementedError
