"""Every colour that words are written in can be read on every ground it stands on."""

from __future__ import annotations

import re

import pytest

from saltern.views.assets import asset

PAIRS = re.findall(r"--([\w-]+): light-dark\(#(\w+), #(\w+)\)", asset("colours.css"))
COLOURS = {name: (light, dark) for name, light, dark in PAIRS}
GROUNDS = ("paper", "ground", "node")
STATUSES = ("ok", "changed", "failed", "would", "skipped")


def luminance(colour: str) -> float:
    """As WCAG defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", [*STATUSES, "ink", "soft", "accent", "delayed"])
def test_words_can_be_read(name: str) -> None:
    softs = [f"{status}-soft" for status in ([name] if name in STATUSES else STATUSES)]
    for ground in (*GROUNDS, *softs):
        for theme in (0, 1):
            assert contrast(COLOURS[name][theme], COLOURS[ground][theme]) >= 4.5, (ground, theme)
