"""Rules about the files of a tree and how they are connected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from saltern.language.delayed import Block
from saltern.language.high import Declaration, Include
from saltern.language.requisites import ADDING
from saltern.language.source import Mark, SlsRef
from saltern.lint.files import KeptLoader
from saltern.lint.findings import Findings


class Survey(Struct, frozen=True, kw_only=True):
    """The result of a survey. ``refs`` are the files to check; ``named`` those that a top file, another
    file or a delayed entry names; ``lost`` those that no name leads to.
    """

    loader: KeptLoader
    refs: tuple[SlsRef, ...]
    named: frozenset[SlsRef]
    has_top: bool
    lost: Iterable[tuple[SlsRef, str]]
    unused: Iterable[Block]


def sls_unused(survey: Survey, found: Findings) -> None:
    if not survey.has_top:
        return
    for ref in survey.refs:
        source = survey.loader.source_of(ref) if ref not in survey.named else None
        if source is not None:
            found.warn(
                "sls-unused",
                f"no top file assigns {ref.name!r} to a machine, and nothing includes it",
                where=Mark(source.path, 1),
            )


def sls_unreachable(survey: Survey, found: Findings) -> None:
    for ref, path in survey.lost:
        found.warn(
            "sls-unreachable",
            f"no SLS name leads to this file: {ref.name!r} is another file",
            where=Mark(path),
            fix="rename it: a dot in an SLS name separates directories, and 'a.sls' takes precedence over"
            " 'a/init.sls'",
        )


def include_twice(survey: Survey, found: Findings) -> None:
    for ref in survey.refs:
        file = survey.loader.file(ref)
        if file is None:
            continue
        seen: dict[SlsRef, int] = {}
        for include in file.includes:
            first = seen.setdefault(include.ref, include.index)
            if first != include.index:
                found.warn(
                    "include-twice",
                    f"{include.ref.name!r} is included twice",
                    where=file.origin.mark(("include", include.index)),
                    fix="remove one of them",
                    also=(("first", file.origin.mark(("include", first))),),
                )


def include_cycle(survey: Survey, found: Findings) -> None:
    """Report a cycle at the include that closes it."""
    done: set[SlsRef] = set()
    for root in survey.refs:
        opened: dict[SlsRef, Iterator[Include]] = {root: _includes(survey, root)} if root not in done else {}
        while opened:
            ref = next(reversed(opened))
            include = next(opened[ref], None)
            if include is None:
                done.add(ref)
                del opened[ref]
            elif include.ref in opened:
                _report_cycle(survey, ref, include, found)
            elif include.ref not in done:
                opened[include.ref] = _includes(survey, include.ref)


def _includes(survey: Survey, ref: SlsRef) -> Iterator[Include]:
    file = survey.loader.file(ref)
    return iter(file.includes if file else ())


def _report_cycle(survey: Survey, ref: SlsRef, include: Include, found: Findings) -> None:
    file = survey.loader.file(ref)
    assert file is not None
    itself = ref == include.ref
    found.warn(
        "include-cycle",
        f"{ref.name!r} includes {'itself' if itself else f'{include.ref.name!r}, which includes it again'}",
        where=file.origin.mark(("include", include.index)),
        fix="remove it" if itself else "move what both need into a third file",
    )


def id_in_two_files(survey: Survey, found: Findings) -> None:
    first: dict[tuple[str, str], Declaration] = {}
    for ref in survey.refs:
        file = survey.loader.file(ref)
        for declared in file.declarations if file else ():
            known = first.setdefault((ref.env, declared.id), declared)
            if known.origin is not declared.origin:
                found.warn(
                    "id-in-two-files",
                    f"{declared.id!r} is also declared in {known.ref.name!r}; no run can have both",
                    where=declared.origin.mark((declared.id,)),
                    fix="rename one of them",
                    also=(("also in", known.origin.mark((known.id,))),),
                )


def argument_twice(survey: Survey, found: Findings) -> None:
    """Report arguments that are written twice in a file. An ``extend`` of another file replaces on
    purpose.
    """
    for ref in survey.refs:
        file = survey.loader.file(ref)
        for declared in file.declarations if file else ():
            keys = [key for item in declared.items if isinstance(item, dict) for key in item]
            for key in dict.fromkeys(keys) if len(set(keys)) < len(keys) else ():
                if keys.count(key) > 1 and key not in ADDING:
                    found.warn(
                        "argument-twice",
                        f"{declared.id!r} is given {key!r} more than once; only the last one counts",
                        where=declared.mark(key),
                        fix="keep one of them",
                    )


def delayed_unused(survey: Survey, found: Findings) -> None:
    for block in survey.unused:
        found.warn(
            "delayed-unused",
            f"no state calls the block {block.name!r}",
            where=block.mark,
            fix=f"name it in a state: '- delayed_render:' with '- block: {block.name}' below, or remove it",
        )
