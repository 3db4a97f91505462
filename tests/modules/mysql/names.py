"""Names that would break out of a careless quotation."""

from __future__ import annotations

AWKWARD = (
    "saltern-t-o'brien",
    'saltern-t-"quoted"',
    "saltern-t-`tick`",
    "saltern-t-back\\slash\\",
    "saltern-t-50%_off",
    "saltern-t-a b; DROP DATABASE mysql; -- x",
    "saltern-t-/* # x",
    "saltern-t-\nDELIMITER //\nx",
    "saltern-t-.dot.*",
    "saltern-t-größe<&>",
)
