"""``ini``: sections and options of INI files; everything else in the files stays unchanged.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "options_absent": "options",
    "options_present": "options",
    "sections_absent": "sections",
    "sections_present": "sections",
}
