"""``archive``: pack, unpack and list archives.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    **dict.fromkeys(("is_encrypted", "list"), "query"),
    **dict.fromkeys(("cmd_zip", "gunzip", "gzip", "rar", "zip"), "pack"),
    **dict.fromkeys(("cmd_unzip", "tar", "unrar", "unzip"), "unpack"),
}
