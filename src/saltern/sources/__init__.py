"""Stop 5. The name of a file in; its text out, found in the roots.

Takes a ``SlsRef`` from ``compiler``, gives a ``SlsSource`` to ``render``; serves ``salt://`` to modules.
"""
