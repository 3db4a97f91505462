"""``saltern check``: compile everything, run nothing, report every problem, fix the mechanical ones."""
