"""Stop 8. Chunks in; a plan out: references resolved, acyclic, in the order they will run. Pure.

Takes ``Chunk``s from ``compiler``, gives a ``Plan`` to ``runtime``.
"""
