"""``cp``: the files of the tree, from templates. ``LAZY`` says which submodule has which function.

Files of the tree need no cache: they are on this machine already, so the "cached"
copy is the file itself. Only files from the web are cached, below ``cachedir``.
"""

from __future__ import annotations

LAZY: dict[str, str] = {
    **dict.fromkeys(("get_dir", "get_file", "get_file_str", "get_template", "get_url"), "get"),
    **dict.fromkeys(("cache_dir", "cache_file", "cache_files", "cache_master"), "cache"),
    **dict.fromkeys(
        (
            "envs",
            "hash_file",
            "is_cached",
            "list_master",
            "list_master_dirs",
            "list_master_symlinks",
            "list_states",
            "stat_file",
        ),
        "query",
    ),
}
