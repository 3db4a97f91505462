"""Stop 9. A plan in; answers out, reported one by one.

Takes a ``Plan`` from ``plan``, gives ``Answer``s to ``report``. Synchronous, and knows the world only
through the ports in ``ports.py``.
"""
