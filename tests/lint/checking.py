"""A tree of texts, checked within this process."""

from __future__ import annotations

from collections.abc import Sequence

from tests import kit

from saltern.language.diagnostics import Diagnostic
from saltern.lint.check import Checked, check
from saltern.lint.choices import choose


def checked(
    files: kit.Files,
    *words: str,
    rules: Sequence[str] = (),
    ignore: Sequence[str] = (),
    without: Sequence[str] = (),
    **options: object,
) -> Checked:
    """``options``: config, grains, pillar."""
    with kit.tree(files, **options) as made:
        session = made.session()
        choices = choose(session.settings.check, rules, ignore)
        found = check(session, words, choices, without=without)
        short = [_short(one, made) for one in found.problems]
        return Checked(problems=short, edits=found.edits, files=found.files)


def _short(problem: Diagnostic, made: kit.Tree) -> Diagnostic:
    from msgspec.structs import replace

    from saltern.language.source import Mark

    mark = problem.where
    root = f"{made.place}/states/base/"
    return replace(
        problem,
        where=Mark(mark.file.removeprefix(root), mark.line, mark.column) if mark else None,
        fix=problem.fix.replace(root, ""),
    )


def codes(files: kit.Files, *words: str, **options: object) -> list[str]:
    """The codes of all that is found, in order of place."""
    return [one.code for one in checked(files, *words, **options).problems]  # type: ignore[arg-type]


def places(found: Checked) -> list[str]:
    """Each problem as ``file:line code``."""
    return [
        f"{one.where.file}:{one.where.line} {one.code}" if one.where else one.code for one in found.problems
    ]
