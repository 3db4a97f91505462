"""When to check, and what: one thread for each tree, which has at most one worker at a time.

A change is checked when the typing pauses. A check that is overtaken by another change is ended. The whole
tree is checked if that is quick; if not, a change checks its own file, and saving checks the whole.
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
from saltern.lsp.launch import resolved, start
from saltern.lsp.sites import Given, Site
from saltern.lsp.worker import CheckReply, Problem, Question

PAUSE = 0.25  # seconds without a key before a change is checked
SMALL = 200  # files
QUICK = 1.5  # seconds of CPU: a whole check that takes no longer is done for every change
LONGEST = 120.0  # then a check is given up

# What only the run as a whole decides: the file that has it may be given to a machine by another way.
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
    """True if a check of the whole tree is quick for sure."""
    try:
        return sum(len(site.tree.sls_names(env)) for env in site.tree.environments()) <= SMALL
    except OperationError:
        return False


class Task(Struct, frozen=True, kw_only=True):
    """``paths`` are the files that changed, ``saved`` those that were saved: their dependents count, too."""

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
    """``texts`` are those that were checked, by path as the editor has them; ``whole``: with all the tree."""

    site: Site
    task: Task
    answer: CheckReply
    texts: dict[str, str]
    whole: bool


class Checker:
    """Checks one tree. ``texts`` gives what is open in it; ``done`` is called in the checker's thread."""

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
        self._whole: Task | None = None  # of a tree that takes long: when nothing else is to be done
        self._due = 0.0
        self._worker: Worker | None = None
        self._over = False
        # The last check of the whole tree took so long; a large one is at first taken for slow.
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
            answer = self._asked(words, texts)
            if answer is None:  # overtaken: what it was to look at is looked at by the next
                self._put_back(task)
                continue
            if whole and not answer.failed:
                self._took, self._is_known = answer.seconds, True
            kept = _kept(answer, whole)
            self._finish(Done(site=self.site, task=task, answer=kept, texts=texts, whole=whole))
            if not self._is_known:  # the file that was opened first is reported soon, and then in full
                self._is_known = True
                self._put_back(Task(paths=task.paths, whole=True))

    def _alone(self, paths: frozenset[str]) -> list[str]:
        """Those that can be checked by themselves: a change of a pillar or a template may matter anywhere."""
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
        """Whatever goes wrong with one answer, there is a next one."""
        try:
            self._done(done)
        except Exception:
            from traceback import print_exc

            print_exc()

    def _next(self) -> Task | None:
        """The task that is due; None: it is over."""
        with self._woken:
            while not self._over:
                left = self._due - time.monotonic()
                if left <= 0 and (task := self._taken()) is not None:
                    return task
                self._woken.wait(left if left > 0 and (self._task or self._whole) else None)
            return None

    def _taken(self) -> Task | None:
        """What is quick comes first: where the whole takes long, what was changed and is not saved."""
        task, self._task = self._task, None
        if task is not None and task.whole and self._took > QUICK:
            self._whole = _both(self._whole, task)
            changed = task.paths - task.saved
            task = Task(paths=changed) if changed else None
        if task is None:
            task, self._whole = self._whole, None
        return task

    def _asked(self, words: list[str], texts: dict[str, str]) -> CheckReply | None:
        site = self.site
        try:
            config, options, places = resolved(site.config, site.options, os.environ)
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
    """One process that checks once."""

    def __init__(self, *, trust: bool) -> None:
        self._ended = False
        self._process = start(trust=trust)

    def end(self) -> None:
        self._ended = True
        self._process.kill()

    def answer(self, question: Question) -> CheckReply | None:
        """None if it was ended."""
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
            return CheckReply(failed=f"the check ended with {self._process.returncode} and without an answer")


def _kept(answer: CheckReply, whole: bool) -> CheckReply:
    if whole:
        return answer
    problems = [one for one in answer.problems if one.diagnostic.code not in OF_THE_WHOLE]
    return replace(answer, problems=problems)
