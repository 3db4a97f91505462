"""``archive``: unpack tar, zip, 7z and rar archives, and refuse hostile ones.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {"extracted": "extracted"}
