"""``salt.utils``. Before 2018 everything was in this module; those names lead to their current places."""

from __future__ import annotations

from importlib import import_module
from typing import Any

MOVED: dict[str, str] = {
    "fopen": "files",
    "rm_rf": "files",
    "is_empty": "files",
    "safe_rm": "files",
    "which": "path",
    "which_bin": "path",
    "is_windows": "platform",
    "is_linux": "platform",
    "is_darwin": "platform",
    "is_proxy": "platform",
    "is_freebsd": "platform",
    "is_sunos": "platform",
    "is_true": "data",
    "traverse_dict": "data",
    "traverse_dict_and_list": "data",
    "compare_dicts": "data",
    "compare_lists": "data",
    "repack_dictlist": "data",
    "is_dictlist": "data",
    "to_str": "stringutils",
    "to_bytes": "stringutils",
    "warn_until": "versions",
    "version_cmp": "versions",
    "clean_kwargs": "args",
    "test_mode": "args",
    "shlex_split": "args",
    "get_hash": "hashutils",
    "alias_function": "functools",
    "namespaced_function": "functools",
    "get_user": "user",
}


def __getattr__(name: str) -> Any:
    if name not in MOVED:
        raise AttributeError(f"salt.utils has no {name!r} here")
    return getattr(import_module(f"{__name__}.{MOVED[name]}"), name)
