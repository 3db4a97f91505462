"""Compile many templates before they are rendered, on all processors.

This is only an optimisation: templates that are not compiled here, or have a mistake, are compiled when
rendered.
"""

from __future__ import annotations

import marshal
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence

from jinja2 import TemplateError
from msgspec import Struct

from saltern.language.diagnostics import SalternError
from saltern.render.jinja.cache import SECRETIVE, DiskCache, code_for
from saltern.render.jinja.environment import Environment
from saltern.render.watchdog import TimeIsUp, limit_time

LEAST = 100  # templates; fewer are not worth it
MOST_PROCESSES = 8
_NAMED = re.compile(
    r"\{%[-+]?\s*(?:from|import|include|extends|import_(?:yaml|json|text))\s+(['\"])(?P<name>[^'\"]+)\1"
)


class Template(Struct, frozen=True):
    environment: Environment
    text: str
    name: str
    file: str

    @property
    def key(self) -> str:
        cache = self.environment.bytecode_cache
        assert cache is not None
        return cache.get_cache_key(self.name, self.file)


def compile_ahead(given: Iterable[Template], seconds: float) -> None:
    """Compile templates that are not on disk yet, and those that they name, within ``seconds`` of CPU
    time.
    """
    missing: dict[tuple[DiskCache, str], Template] = {}
    for one in with_named(given):
        cache = one.environment.bytecode_cache
        if isinstance(cache, DiskCache) and SECRETIVE not in one.text and not cache.has(one.key):
            missing[cache, one.key] = one
    if len(missing) < LEAST:
        return
    compiled = dict(_in_processes(list(missing.values()), seconds))
    for cache in {cache for cache, _ in missing}:
        cache.bulk.add({key: compiled[key] for of, key in missing if of is cache and key in compiled})


def with_named(given: Iterable[Template]) -> Iterator[Template]:
    """Each template, and those that it imports or includes by a literal name."""
    seen: set[tuple[int, str]] = set()
    left = list(given)
    while left:
        one = left.pop()
        yield one
        for named in _NAMED.finditer(one.text):
            name = _join_path(one, named["name"])
            if name and (id(one.environment), name) not in seen:
                seen.add((id(one.environment), name))
                left += _load_template(one.environment, name)


def _join_path(one: Template, name: str) -> str:
    try:
        return one.environment.join_path(name, one.name)
    except TemplateError:
        return ""


def _load_template(environment: Environment, name: str) -> list[Template]:
    assert environment.loader is not None
    try:
        text, file, _ = environment.loader.get_source(environment, name)
    except (TemplateError, SalternError):
        return []
    return [Template(environment, text, name, file or "")]


# -- processes ---------------------------------------------------------------------------------------


def _in_processes(work: Sequence[Template], seconds: float) -> Iterator[tuple[str, bytes]]:
    """Compile in processes; the last share is done here, and those for which no process could be started."""
    count = _processes()
    shares = [work[at::count] for at in range(count)]
    started = [_start(share, seconds) for share in shares[:-1]]
    for share, process in zip(shares, [*started, None], strict=True):
        if process is None:
            yield from _compile_all(share, seconds)
    for pid, pipe in filter(None, started):
        yield from _answer(pid, pipe)


def _processes() -> int:
    """The number of processes; a process with threads does not fork."""
    threads = sys.modules.get("threading")
    if threads is not None and threads.active_count() > 1:
        return 1
    return min(len(os.sched_getaffinity(0)), MOST_PROCESSES)


def _compile_all(work: Sequence[Template], seconds: float) -> list[tuple[str, bytes]]:
    done: list[tuple[str, bytes]] = []
    try:
        with limit_time(seconds):
            done += (made for one in work if (made := _compile_one(one)))
    except TimeIsUp:  # rendering reports the template that takes too long
        pass
    return done


def _compile_one(one: Template) -> tuple[str, bytes] | None:
    try:
        return one.key, code_for(one.environment, one.text, one.name, one.file)
    except Exception:  # reported when the template is rendered
        return None


def _start(work: Sequence[Template], seconds: float) -> tuple[int, int] | None:
    reader, writer = os.pipe()
    try:
        pid = os.fork()
    except OSError:  # too many, or not allowed here
        os.close(reader)
        os.close(writer)
        return None
    if pid:
        os.close(writer)
        return pid, reader
    try:
        os.close(reader)
        with os.fdopen(writer, "wb") as pipe:
            marshal.dump(_compile_all(work, seconds), pipe)
    finally:
        os._exit(0)


def _answer(pid: int, pipe: int) -> list[tuple[str, bytes]]:
    """The results of a process; empty if it was ended before it could report them."""
    with os.fdopen(pipe, "rb") as file:
        data = file.read()
    os.waitpid(pid, 0)
    try:
        done: list[tuple[str, bytes]] = marshal.loads(data)
    except (EOFError, ValueError, TypeError):
        return []
    return done
