"""Stop 7. Documents in; sorted low chunks out. Pure: reads no files, runs no code.

Takes ``Document``s through a ``Loader``, gives ``Chunk``s to ``plan``.
"""
