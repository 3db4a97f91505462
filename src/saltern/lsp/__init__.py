"""``saltern lsp``: answers an editor while states are written. Begin with ``server.py``."""
