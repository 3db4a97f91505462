"""The Jinja renderer: its insides are hidden from the rest, and most runs of plain files never import it.

``door.py`` is what the rest sees; behind it ``renderer.py``, with the environment, the cache of compiled
templates, the way back from rendered lines to template lines, and how mistakes are reported.
"""
