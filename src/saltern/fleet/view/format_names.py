"""The names of the formats for many systems, without the code that writes them."""

from __future__ import annotations

GROUPED = "grouped"  # the default: for people
DATA_FORMATS = ("json", "yaml", "pprint")
SILENT = ("jsonl", "quiet")  # written as the answers arrive, or not at all
FORMAT_NAMES = (GROUPED, "human", "highstate", "nested", *DATA_FORMATS, "junit", *SILENT)
