"""The names of the formats for many systems, without what writes them."""

from __future__ import annotations

GROUPED = "grouped"  # the default: for people
DATA_FORMATS = ("json", "yaml", "pprint")
SILENT = ("jsonl", "quiet")  # written while the answers come, or never
FORMAT_NAMES = (GROUPED, "human", "highstate", "nested", *DATA_FORMATS, "junit", *SILENT)
