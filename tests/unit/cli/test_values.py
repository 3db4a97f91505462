"""Values on the command line: YAML where it is meant, the text itself where it only looks like it."""

from __future__ import annotations

import pytest

from saltern.cli.values import call_arguments


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("1", 1),
        ("1.5", 1.5),
        ("true", True),
        ("None", None),
        ("~", None),
        ("[1, a]", [1, "a"]),
        ("{a: 1}", {"a": 1}),
        ("'7'", "7"),
        ("a: b", "a: b"),
        ("- a", "- a"),
        ("a\nb", "a\nb"),
        ("\nimport sys\nprint(1)\n", "\nimport sys\nprint(1)\n"),
        ("a\tb", "a\tb"),
        ("a # b", "a # b"),
        ("# b", "# b"),
        ("|", "|"),
        ("!", "!"),
        ("---", "---"),
        ("...", "..."),
        ("  ", "  "),
        ("", ""),
        ("1_000", "1_000"),
        ("{{ x }", "{{ x }"),
    ],
)
def test_a_value_is_read_as_salt_reads_it(word: str, value: object) -> None:
    assert call_arguments([word]) == ([value], {})
    assert call_arguments([f"key={word}"]) == ([], {"key": value})
