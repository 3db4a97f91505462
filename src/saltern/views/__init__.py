"""Views of plans and runs: explanations, pictures of the requisites, pages of a run.

Takes a ``Plan`` from ``plan`` or the state of a run from ``journal``, and gives text to the cli.
"""
