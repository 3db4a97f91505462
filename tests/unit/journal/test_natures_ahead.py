"""The journal asks for natures before a state acts, and not while it is written."""

from __future__ import annotations

from pathlib import Path

from tests import kit

from saltern.config.settings import Settings
from saltern.journal.run_journal import RunJournal
from saltern.journal.runs import Runs
from saltern.language.diagnostics import Diagnostics
from saltern.language.nature import UNDECLARED, Nature
from saltern.plan.make import make_plan
from saltern.runtime.progress import Begun


def test_no_nature_is_asked_for_when_an_effect_is_due(tmp_path: Path) -> None:
    """An answer may load a module, which writes compiled code: an effect in the middle of an import."""
    asked: list[tuple[str, str]] = []

    def natures(state: str, fun: str) -> Nature:
        asked.append((state, fun))
        return UNDECLARED

    runs = Runs(Settings(state_dir=str(tmp_path)))
    Path(runs.folder).mkdir(parents=True)
    writer = runs.writer("20261116000000000000")
    journal = RunJournal(writer, natures=natures)
    chunks = [kit.chunk("a", state="cmd", fun="run"), kit.chunk("b", state="mine", fun="done")]
    plan = make_plan(chunks, [], Diagnostics())
    journal.starting("", 0, Begun(0, 1.0, 1.0), plan)
    known = set(asked)
    assert known == {("cmd", "run"), ("mine", "done")}
    journal.sync()
    journal.starting("", 1, Begun(1, 2.0, 2.0), plan)
    before = len(asked)
    journal.starting("", 1, Begun(1, 2.0, 2.0), plan)
    assert len(asked) == before, "once for each plan"
    assert set(asked) == known
    writer.close()
