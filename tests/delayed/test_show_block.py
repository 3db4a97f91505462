"""``saltern show rendered --block``: a block's text, and what it renders to after a return."""

from __future__ import annotations

import pytest
from tests.kit import request_for, tree

from saltern.cli.options import OUTPUT_NAMES
from saltern.engine.show import show_rendered
from saltern.language.diagnostics import Diagnostics
from saltern.report.outputs import OUTPUTS

FILES = {
    "main.sls": (
        "{% set port = 80 %}\n"
        "vm:\n  test.nop:\n    - delayed_render:\n      - block: outer\n        context: {zone: one}\n"
        "#!delayed_block outer scoped\n"
        "host {{ zone }} {{ prev_ret.data.ip }}:{{ port }}:\n  test.nop: []\n"
        "#!delayed_block inner\ndeep:\n  test.nop: []\n#!end_delayed_block inner\n"
        "#!end_delayed_block outer\n"
    )
}


def shown(block: str, *, prev_ret: object = None, context: dict[str, object] | None = None) -> dict[str, str]:
    with tree(FILES) as made:
        found = Diagnostics()
        texts = show_rendered(
            made.session(), request_for(FILES), found, block=block, prev_ret=prev_ret, context=context
        )
        found.check()
        return texts


def test_without_a_return_the_text_is_shown_as_it_was_cut() -> None:
    (text,) = shown("outer").values()
    assert text.startswith("host {{ zone }} {{ prev_ret.data.ip }}")
    assert "#!delayed_block inner" in text


def test_with_a_return_and_a_context_it_is_shown_as_its_frame_would_see_it() -> None:
    texts = shown("outer", prev_ret={"data": {"ip": "10.0.0.7"}}, context={"zone": "two"})
    assert texts["main>outer"].splitlines()[0] == "host two 10.0.0.7:80:"


def test_an_inner_block_is_found_by_its_name() -> None:
    assert shown("inner") == {"main>outer>inner": "deep:\n  test.nop: []\n"}


def test_a_block_that_no_file_has_is_reported_with_those_that_are_there() -> None:
    with pytest.raises(Exception, match=r"none of the named files has a block 'otter'"):
        shown("otter")


def test_the_command_line_offers_every_output_that_there_is() -> None:
    assert set(OUTPUT_NAMES) == OUTPUTS.keys()
