"""``saltern lsp``: the language server for editors. Begin with ``server.py``."""
