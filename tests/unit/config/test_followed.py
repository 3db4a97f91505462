"""A key of the configuration that the sources read is never reported as unused."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import saltern
from saltern.compat.pillars import git
from saltern.config.foreign import FOLLOWED
from saltern.config.load import load
from saltern.config.options import OPTIONS

SOURCE = Path(saltern.__file__).parent
PLACES = {"extra", "opts"}  # of the settings, and the same as modules see them
LOOPS = (ast.For, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MADE = {"__orchestration_jid__", "cachedir", "saltern_call"}  # in ``opts`` without being set by anyone


def is_place(node: ast.expr) -> bool:
    """``settings.extra`` or ``ctx.opts``; not the ``extra`` of a result."""
    if not isinstance(node, ast.Attribute) or node.attr not in PLACES:
        return False
    return node.attr == "opts" or ast.unparse(node.value).endswith("settings")


def reads(tree: ast.AST) -> Iterator[ast.expr]:
    """The keys of ``….extra[key]``, ``….extra.get(key)`` and ``key in ….extra``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and is_place(node.value):
            yield node.slice
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_place(node.func.value)
        ):
            yield from node.args[:1] if node.func.attr in ("get", "pop", "setdefault") else ()
        elif isinstance(node, ast.Compare) and any(is_place(one) for one in node.comparators):
            yield node.left


def constants(tree: ast.AST) -> dict[str, str]:
    """The texts that a file gives names to."""
    rows = tree.body if isinstance(tree, ast.Module) else []
    return {
        row.targets[0].id: row.value.value
        for row in rows
        if isinstance(row, ast.Assign)
        and isinstance(row.targets[0], ast.Name)
        and isinstance(row.value, ast.Constant)
        and isinstance(row.value.value, str)
    }


def words(key: ast.expr, tree: ast.AST) -> set[str]:
    """The texts a key may be; of a name, that of the file, or those of the loops around it that bind it."""
    if isinstance(key, ast.Constant):
        return {key.value} if isinstance(key.value, str) else set()
    if not isinstance(key, ast.Name):
        return set()
    if (text := constants(tree).get(key.id)) is not None:
        return {text}
    around = (node for node in ast.walk(tree) if isinstance(node, LOOPS) and key in ast.walk(node))
    bound = (
        one.iter
        for node in around
        for one in ([node] if isinstance(node, ast.For) else node.generators)
        if isinstance(one.target, ast.Name) and one.target.id == key.id
    )
    tuples = (one for one in bound if isinstance(one, ast.Tuple | ast.List))
    return {str(item.value) for one in tuples for item in one.elts if isinstance(item, ast.Constant)}


def read_keys() -> dict[str, str]:
    """Every key that is read, and a file that reads it."""
    found: dict[str, str] = {}
    for file in SOURCE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if any(f".{place}" in text for place in PLACES):
            tree = ast.parse(text)
            found |= {word: str(file) for key in reads(tree) for word in words(key, tree)}
    return found


KEYS = {word: file for word, file in read_keys().items() if word not in OPTIONS and word not in MADE}


def test_the_inspection_finds_what_is_known_to_be_read() -> None:
    assert {
        "ext_pillar",
        "master_tops",
        "providers",
        "jinja_trim_blocks",
        "hosts.file",
        "x509_signing_policies",
    } <= KEYS.keys()


@pytest.mark.parametrize("key", sorted(KEYS))
def test_a_key_that_is_read_is_not_reported(tmp_path: Path, key: str) -> None:
    path = tmp_path / "minion"
    path.write_text(f"{key}: {{}}\n")
    assert load(str(path), {}, {})[1] == []
    assert "." in key or key in FOLLOWED, f"{KEYS[key]} reads it: give it a row in FOLLOWED"


def test_every_row_is_read() -> None:
    """Settings of the pillar source ``git`` are read by what follows their prefix."""
    by_prefix = {f"{git.PREFIX}{name}" for name in git.KNOWN}
    assert FOLLOWED.keys() - KEYS.keys() - by_prefix == set()


def test_no_row_is_an_option_and_every_row_has_a_sentence() -> None:
    assert not FOLLOWED.keys() & OPTIONS.keys()
    assert all(doc.endswith(".") for doc in FOLLOWED.values())
