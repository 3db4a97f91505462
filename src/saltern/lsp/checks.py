"""Decides when to check, and what: one thread for each tree, with at most one worker at a time.

A change is checked when typing pauses; another change ends a running check. If it is quick, the whole tree is
checked; otherwise, a change checks only its file, and saving checks the whole tree.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from subprocess import TimeoutExpired

from msgspec import Struct, json
from msgspec.structs import replace

from saltern.language.diagnostics import OperationError
from saltern.lsp.launch import resolve_options, start
from saltern.lsp.sites import Given, Site
from saltern.lsp.worker import CheckReply, Problem, Question

PAUSE = 0.25  # seconds without typing before a change is checked
SMALL = 200  # files
QUICK = 1.5  # seconds of CPU time; a whole check that takes longer is not done for every change
LONGEST = 120.0  # seconds until a check is given up

# Problems that depend on the whole run: another file may include what this one lacks.
OF_THE_WHOLE = frozenset(
    {
        "check-nothing",
        "requisite-unknown",
        "requisite-in-unknown",
        "requisite-matches-nothing",
        "extend-unknown",
        "use-unknown",
        "late-unknown",
    }
)


def is_small(site: Site) -> bool:
    """True if a check of the whole tree is certainly quick."""
    try:
        return sum(len(site.tree.sls_names(env)) for env in site.tree.environments()) <= SMALL
    except OperationError:
        return False


class Task(Struct, frozen=True, kw_only=True):
    """``paths`` are the changed files, ``saved`` the saved ones, whose dependents are checked, too."""

    paths: frozenset[str] = frozenset()
    saved: frozenset[str] = frozenset()
    whole: bool = False

    def __or__(self, other: Task) -> Task:
        return Task(
            paths=self.paths | other.paths,
            saved=self.saved | other.saved,
            whole=self.whole or other.whole,
        )


class Done(Struct, frozen=True, kw_only=True):
    """``texts`` are the checked texts by the editor's paths; ``whole``: the whole tree was checked."""

    site: Site
    task: Task
    answer: CheckReply
    texts: dict[str, str]
    whole: bool


class Checker:
    """Checks one tree. ``texts`` returns the open texts; ``done`` is called in the checker's thread."""

    def __init__(
        self,
        site: Site,
        given: Given,
        *,
        texts: Callable[[Site], dict[str, str]],
        done: Callable[[Done], None],
    ) -> None:
        self.site = site
        self._given = given
        self._texts = texts
        self._done = done
        self._woken = threading.Condition()
        self._task: Task | None = None
        self._whole: Task | None = None  # the task for a slow tree, when there is nothing else to do
        self._due = 0.0
        self._worker: Worker | None = None
        self._over = False
        # The time of the last check of the whole tree; a large tree is assumed to be slow at first.
        self._took = 0.0 if is_small(site) else LONGEST
        self._is_known = self._took <= QUICK
        threading.Thread(target=self._loop, name="check", daemon=True).start()

    def ask(self, task: Task, pause: float = 0.0) -> None:
        with self._woken:
            self._task = _both(self._task, task)
            self._due = time.monotonic() + pause
            if self._worker is not None:
                self._worker.end()
            self._woken.notify()

    def stop(self) -> None:
        with self._woken:
            self._over = True
            if self._worker is not None:
                self._worker.end()
            self._woken.notify()

    def _loop(self) -> None:
        while (task := self._next()) is not None:
            texts = self._texts(self.site)
            words = [] if task.whole or self._took <= QUICK else self._alone(task.paths)
            whole = not words
            answer = self._ask_worker(words, texts)
            if answer is None:  # superseded: the next check includes its files
                self._put_back(task)
                continue
            if whole and not answer.failed:
                self._took, self._is_known = answer.seconds, True
            kept = _problems_to_keep(answer, whole)
            self._finish(Done(site=self.site, task=task, answer=kept, texts=texts, whole=whole))
            if not self._is_known:  # the first opened file is reported early, then completely
                self._is_known = True
                self._put_back(Task(paths=task.paths, whole=True))

    def _alone(self, paths: frozenset[str]) -> list[str]:
        """The files that can be checked alone. A change of a pillar or a template may affect any file."""
        site = self.site
        if any(site.kind(path) != "states" or site.place(path) is None for path in paths):
            return []
        return sorted(filter(os.path.isfile, paths))

    def _put_back(self, task: Task) -> None:
        with self._woken:
            if task.whole and self._took > QUICK:
                self._whole = _both(self._whole, task)
            else:
                self._task = _both(self._task, task)

    def _finish(self, done: Done) -> None:
        """Report a finished check. If that fails, the thread still serves the next one."""
        try:
            self._done(done)
        except Exception:
            from traceback import print_exc

            print_exc()

    def _next(self) -> Task | None:
        """Wait for the next task; None if the checker is stopped."""
        with self._woken:
            while not self._over:
                left = self._due - time.monotonic()
                if left <= 0 and (task := self._take_task()) is not None:
                    return task
                self._woken.wait(left if left > 0 and (self._task or self._whole) else None)
            return None

    def _take_task(self) -> Task | None:
        """Take the next task, quick ones first: for a slow tree, files that were changed and not saved."""
        task, self._task = self._task, None
        if task is not None and task.whole and self._took > QUICK:
            self._whole = _both(self._whole, task)
            changed = task.paths - task.saved
            task = Task(paths=changed) if changed else None
        if task is None:
            task, self._whole = self._whole, None
        return task

    def _ask_worker(self, words: list[str], texts: dict[str, str]) -> CheckReply | None:
        site = self.site
        try:
            config, options, places = resolve_options(site.config, site.options, os.environ)
        except OperationError as problem:  # of the machine's own configuration
            problems = [Problem(diagnostic=one) for one in problem.diagnostics]
            return CheckReply(problems=problems, stopped="surroundings")
        question = Question(
            config=config,
            options=options,
            places=places,
            pillar=self._given.pillar,
            words=words,
            texts={
                name: text.removeprefix("\ufeff")
                for path, text in texts.items()
                for name in site.aliases(path)
            },
            trust=self._given.trust,
        )
        with self._woken:
            if self._over or self._task is not None:
                return None
            self._worker = Worker(trust=self._given.trust)
        try:
            return self._worker.answer(question)
        finally:
            with self._woken:
                self._worker = None


def _both(one: Task | None, other: Task) -> Task:
    return other if one is None else one | other


class Worker:
    """A process that does one check."""

    def __init__(self, *, trust: bool) -> None:
        self._ended = False
        self._process = start(trust=trust)

    def end(self) -> None:
        self._ended = True
        self._process.kill()

    def answer(self, question: Question) -> CheckReply | None:
        """The reply of the process; None if it was ended."""
        try:
            data, _ = self._process.communicate(json.encode(question), timeout=LONGEST)
        except TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            return CheckReply(failed=f"the check was given up after {LONGEST:.0f} seconds")
        except (OSError, ValueError):
            data = b""
        if self._ended:
            return None
        try:
            return json.decode(data, type=CheckReply)
        except ValueError:
            return CheckReply(failed=f"the check ended with {self._process.returncode} without a reply")


def _problems_to_keep(answer: CheckReply, whole: bool) -> CheckReply:
    if whole:
        return answer
    problems = [one for one in answer.problems if one.diagnostic.code not in OF_THE_WHOLE]
    return replace(answer, problems=problems)
