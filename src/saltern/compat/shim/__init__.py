"""``salt``, for modules that import it where Salt is not installed: the names such modules really use.

Behaviour is Salt's as far as a module sees it; what there is no need for is left out, and importing
it says so. Names here are Salt's, whatever our own rules say.
"""
