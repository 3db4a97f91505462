"""What of a tree is fetched before anything is compiled; the rest is fetched when a state asks for it."""

from __future__ import annotations

from saltern.fleet.files.manifest import FILE, Entry

# What SLS files are, import and include. ``.py`` elsewhere than in `_modules` and its kin is not among them.
LANGUAGE = (".sls",)
TEMPLATES = (
    *(".jinja", ".jinja2", ".j2", ".jj2", ".mako", ".tmpl", ".tpl", ".template", ".lib", ".map"),
    *(".yaml", ".yml", ".json", ".toml"),
)
TEMPLATE_LIMIT = 128 * 1024  # a template that is larger comes when it is asked for


def is_needed_first(entry: Entry) -> bool:
    """True for state files, for what they are made of, and for modules of the tree."""
    if entry.kind != FILE:
        return False
    if entry.path.startswith("_") or entry.path.endswith(LANGUAGE):
        return True
    return entry.size <= TEMPLATE_LIMIT and entry.path.endswith(TEMPLATES)
