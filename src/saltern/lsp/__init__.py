"""``saltern lsp``: what an editor asks while states are written. ``server.py`` is where it begins."""
