"""Stop 9b. Runs modules written for Salt unchanged: the user's own, and those of an installed Salt.

Takes Python files that expect injected names, and gives state functions and execution functions, which
``modules`` calls. ``library.Library`` is the entry point; only ``session`` uses it.
"""
