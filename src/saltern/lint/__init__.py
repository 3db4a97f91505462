"""``saltern check``: compile everything, run nothing, report every problem, and fix those that can be fixed
automatically.
"""
