"""``cp``: the files of the tree, from templates. ``LAZY`` says which submodule has which function.

There is nothing to cache: a file of the tree is on this machine already, so its "cached"
copy is the file itself. Only what comes from the web is kept, below ``cachedir``.
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
