"""``salt``, for modules that import it where Salt is not installed: the names that such modules really use.

A module sees the same behaviour as in Salt. Names that are not needed are left out, and importing them raises
an error that says so. Names here are Salt's, even where they do not follow our own rules.
"""
