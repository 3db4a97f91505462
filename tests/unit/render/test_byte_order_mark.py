"""A byte order mark before a text is no part of it, and moves no place in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from saltern.language.diagnostics import CompileError
from saltern.language.source import SlsRef
from saltern.sources.tree import Tree

BOM = b"\xef\xbb\xbf"
REF = SlsRef("base", "main")


def tree(place: Path, data: bytes) -> Tree:
    (place / "main.sls").write_bytes(data)
    return Tree({"base": [str(place)]})


@pytest.mark.parametrize("text", ["", "a: test.nop\n", "\u00e9: test.nop\n"])
def test_the_mark_is_no_part_of_the_text(tmp_path: Path, text: str) -> None:
    found = tree(tmp_path, BOM + text.encode()).read(REF)
    assert found is not None and found.text == text


@pytest.mark.parametrize("mark", [b"", BOM])
@pytest.mark.parametrize(("text", "where"), [(b"ab\xff\n", "1:3"), (b"a: b\nc: \xe4", "2:4")])
def test_a_bad_byte_is_found_at_its_place(tmp_path: Path, mark: bytes, text: bytes, where: str) -> None:
    with pytest.raises(CompileError) as problem:
        tree(tmp_path, mark + text).read(REF)
    told = problem.value.diagnostics[0]
    byte = next(one for one in text if one > 127)
    assert str(told.where).endswith(f"main.sls:{where}")
    assert told.what == f"the byte 0x{byte:02x} is not UTF-8"
