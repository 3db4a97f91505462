"""Every problem that saltern reports, with its code, collected from the calls that report it.

A code is a slug such as ``requisite-unknown``; it is the first argument (or ``code=``) of the call
that makes the problem, or the first of a returned row. The messages are read from the same call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct, field

from saltern.lint.rules import RULES
from tools.reference.markdown import page

SOURCE = Path(__file__).parent.parent.parent / "src" / "saltern"
NOTES = Path(__file__).parent / "errors.yaml"
SLUG = re.compile(r"[a-z]+(-[a-z0-9]+)+")
TELLERS = frozenset(
    {
        "error",
        "warn",
        "report",
        "_report",
        "tell",
        "Diagnostic",
        "Problem",
        "YamlProblem",
        "_problem",
        "tag_problem",
        "_bad",
        "_told",
        "told",
        "_wrong",
    }
)


class Problem(Struct):
    """One code: its messages, its fixes, and its places in the source."""

    code: str
    texts: list[str] = field(default_factory=list)
    fixes: list[str] = field(default_factory=list)
    warning: bool = True
    places: set[str] = field(default_factory=set)


@cache
def collect(source: Path = SOURCE) -> Mapping[str, Problem]:
    """All of them, by code. The source is read once."""
    found: dict[str, Problem] = {}
    for file in sorted(source.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        for code, what, fix, warning in _told(nodes, _constants(nodes)):
            problem = found.setdefault(code, Problem(code))
            problem.warning &= warning
            problem.places.add(str(file.relative_to(source)))
            for text, texts in ((what, problem.texts), (fix, problem.fixes)):
                if re.search(r"\w", text) and text not in texts:
                    texts.append(text)
    return dict(sorted(found.items()))


def _constants(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Texts that have a name: ``what = f"…"`` before the call. A name that is assigned twice is left out."""
    found: dict[str, list[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                found.setdefault(_name(target), []).append(text_of(node.value))
    return {name: texts[0] for name, texts in found.items() if len(texts) == 1}


def _told(nodes: Iterable[ast.AST], named: Mapping[str, str]) -> Iterator[tuple[str, str, str, bool]]:
    def text(node: ast.AST | None) -> str:
        return text_of(node) or named.get(_name(node), "") if node is not None else ""

    for node in nodes:
        if isinstance(node, ast.Call) and _name(node.func) in TELLERS:
            yield from _call(node, text)
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 3:
            first, what, fix = node.value.elts
            yield from ((slug, text(what), text(fix), False) for slug in _slugs(first))
        elif isinstance(node, ast.Assign) and [_name(one) for one in node.targets] == ["code"]:
            yield from ((slug, "", "", False) for slug in _slugs(node.value))


def _call(node: ast.Call, text: Callable[[ast.AST | None], str]) -> Iterator[tuple[str, str, str, bool]]:
    """``tell(code, what, …)`` and ``Diagnostic(code=…, what=…, fix=…)``."""
    named = {word.arg: word.value for word in node.keywords if word.arg}
    places = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
    after = list(places)
    while after and not _slug(after[0]):
        after.pop(0)
    code = named.get("code") or (after[0] if after else None)
    what = named.get("what") or (after[1] if len(after) > 1 else None)
    fix = named.get("fix") or (after[-1] if len(after) > 2 else None)
    warning = _name(node.func) == "warn" or "WARNING" in ast.dump(node)
    for slug in _slugs(code):
        yield slug, text(what), text(fix), warning


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _slug(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(SLUG.fullmatch(node.value))


def _slugs(node: ast.AST | None) -> list[str]:
    if isinstance(node, ast.IfExp):
        return [*_slugs(node.body), *_slugs(node.orelse)]
    return [str(node.value)] if isinstance(node, ast.Constant) and _slug(node) else []


def text_of(node: ast.AST | None) -> str:
    """A text as in the source, with ``…`` for inserted values."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        parts = [text_of(part) if isinstance(part, ast.Constant) else "…" for part in node.values]
        return "".join(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return f"{text_of(node.left) or '…'}{text_of(node.right) or '…'}"
    if isinstance(node, ast.BoolOp):
        return next((text for value in node.values if (text := text_of(value))), "")
    return ""


def notes() -> Mapping[str, str]:
    import yaml

    written = yaml.safe_load(NOTES.read_text(encoding="utf-8"))
    return {str(code): str(text).strip() for code, text in written.items()}


def shipped() -> str:
    """The same as data, for ``saltern explain CODE``."""
    import json

    written = notes()
    codes = {
        problem.code: {
            "note": _unlinked(written.get(problem.code, "")),
            "warning": problem.warning,
            "rule": problem.code in RULES,
            "says": problem.texts,
            "advises": problem.fixes,
        }
        for problem in collect().values()
    }
    return json.dumps(codes, indent=1, ensure_ascii=False) + "\n"


def _unlinked(text: str) -> str:
    """The text without links, for a terminal: the words stay, with the name of a page elsewhere."""
    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r"\1 (docs: \2)", text).replace("../", "")


def errors() -> str:
    written = notes()
    parts = [
        "Every message of saltern ends with a code in brackets: `[requisite-unknown]`. This page has all of"
        " them. In the messages, `…` stands for names from your files."
        " [How to read a message](../guides/read-errors.md)."
    ]
    for problem in collect().values():
        parts.append(_section(problem, written.get(problem.code, "")))
    return page("Problems and their codes", *parts)


def _section(problem: Problem, note: str) -> str:
    lines = [f"## {problem.code}", ""]
    if problem.warning:
        lines += ["A warning: the run continues.", ""]
    if note:
        lines += [note, ""]
    if problem.code in RULES:
        lines += ["A rule of [`saltern check`](check.md).", ""]
    lines += [f"- says: {text}" for text in problem.texts]
    lines += [f"- advises: {text}" for text in problem.fixes]
    if lines[-1].startswith("- "):
        lines.append("")
    lines.append(f"Reported by {', '.join(f'`{place}`' for place in sorted(problem.places))}.")
    return "\n".join(lines)
