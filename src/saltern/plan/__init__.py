"""Stop 8. Chunks in; a plan out: references resolved, acyclic, in execution order. Pure.

Takes ``Chunk``s from ``compiler``, gives a ``Plan`` to ``runtime``.
"""
