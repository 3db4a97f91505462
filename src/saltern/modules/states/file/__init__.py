"""``file``: files, directories, links and their contents.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    "absent": "presence",
    "accumulated": "accumulated",
    "append": "append",
    "blockreplace": "blocks",
    "cached": "cached",
    "comment": "comment",
    "copy": "copies",
    "decode": "decode",
    "directory": "directory",
    "exists": "presence",
    "hardlink": "links",
    "keyvalue": "keyvalue",
    "line": "line",
    "managed": "managed",
    "missing": "presence",
    "mknod": "mknod",
    "not_cached": "cached",
    "patch": "patch",
    "prepend": "append",
    "pruned": "pruned",
    "recurse": "recurse",
    "rename": "copies",
    "replace": "replace",
    "retention_schedule": "retention",
    "serialize": "serialize",
    "symlink": "links",
    "tidied": "tidied",
    "touch": "touch",
    "uncomment": "comment",
}
