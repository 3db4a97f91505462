"""Convert command-line words into values: roots, mappings, and call arguments."""

from __future__ import annotations

import os
from types import SimpleNamespace

from saltern.language.diagnostics import Diagnostic, OperationError


def roots(given: list[str] | None) -> dict[str, list[str]] | None:
    """Roots by environment: ``DIR`` is for base, ``ENV=DIR`` for that environment; DIR can be a git
    repository.
    """
    if not given:
        return None
    roots: dict[str, list[str]] = {}
    for text in given:
        env, equals, folder = text.partition("=")
        if not equals or os.sep in env:
            env, folder = "base", text
        whole = folder if folder.startswith("git+") else os.path.abspath(os.path.expanduser(folder))
        roots.setdefault(env, []).append(whole)
    return roots


def check_grains_file(path: str | None) -> str | None:
    if path is not None and not os.path.isfile(path):
        what = f"there is no grains file {path!r}, or it is not a plain file"
        raise OperationError(Diagnostic(code="grains-missing", what=what))
    return os.path.abspath(path) if path else None


def tree_values(args: SimpleNamespace) -> dict[str, object]:
    """The values of the options that say which tree is meant, and for which machine (``TREE_ROWS``)."""
    return {
        "file_roots": roots(args.file_root),
        "pillar_roots": roots(args.pillar_root),
        "pillarenv": args.pillarenv,
        "id": args.minion_id,
        "grains_file": check_grains_file(args.grains),
    }


def mapping_value(option: str, text: str | None) -> dict[str, object]:
    if not text:
        return {}
    value = yaml_value(option, text)
    if isinstance(value, str):
        return mapping_file(option, value)
    if not isinstance(value, dict):
        raise OperationError(
            Diagnostic(
                code="option-shape",
                what=f"{option} needs a mapping, such as '{{key: value}}', or a file that holds one",
                fix="quote all of it for your shell",
            )
        )
    return value


def mapping_file(option: str, path: str) -> dict[str, object]:
    """The mapping that a YAML file holds."""
    from saltern.config.files import mapping

    found = os.path.abspath(os.path.expanduser(path))
    if not os.path.isfile(found):
        raise OperationError(
            Diagnostic(
                code="option-path",
                what=f"{option}: {path!r} is not a mapping, and no file has that name",
                fix="write '{key: value}', quoted for your shell, or name a YAML file",
            )
        )
    return mapping(found)


def yaml_value(option: str, text: str) -> object:
    from saltern.render.yaml import read
    from saltern.render.yaml_limits import YamlProblem

    try:
        return read(text)
    except YamlProblem as problem:
        raise OperationError(
            Diagnostic(
                code="option-yaml",
                what=f"{option}: {problem.what} (column {problem.column})",
                fix=problem.fix,
            )
        ) from None


def call_arguments(words: list[str]) -> tuple[list[object], dict[str, object]]:
    """``a b k=v`` as the arguments of a call, each value read as YAML."""
    if not words:
        return [], {}
    from saltern.render.call_words import read_words

    return read_words(words)
