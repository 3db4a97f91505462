"""Which files of a tree are fetched before anything is compiled; the rest is fetched on demand."""

from __future__ import annotations

from saltern.fleet.files.manifest import FILE, Entry

# SLS files, and what they import and include. ``.py`` files outside `_modules` and similar are not included.
LANGUAGE = (".sls",)
TEMPLATES = (
    *(".jinja", ".jinja2", ".j2", ".jj2", ".mako", ".tmpl", ".tpl", ".template", ".lib", ".map"),
    *(".yaml", ".yml", ".json", ".toml"),
)
TEMPLATE_LIMIT = 128 * 1024  # a larger template is fetched on demand


def is_needed_first(entry: Entry) -> bool:
    """True for state files, for what they import, and for modules of the tree."""
    if entry.kind != FILE:
        return False
    if entry.path.startswith("_") or entry.path.endswith(LANGUAGE):
        return True
    return entry.size <= TEMPLATE_LIMIT and entry.path.endswith(TEMPLATES)
