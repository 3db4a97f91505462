"""The Jinja renderer; hidden from other packages, and not imported in most runs of plain files.

``door.py`` is its interface; behind it are ``renderer.py``, the environment, the cache of compiled
templates, the mapping from rendered lines to template lines, and the reports of mistakes.
"""
