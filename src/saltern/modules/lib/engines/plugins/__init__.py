"""Plugins that run inside other engines, with their Python, and report each result as it comes.

Nothing of saltern can be imported here, nor anything that the engine does not have; no syntax newer than
Python 3.8; and an error in reporting must not affect the run.
"""
