"""Stop 5. Finds a file in the roots by its name, and reads its text.

Takes a ``SlsRef`` from ``compiler``, gives a ``SlsSource`` to ``render``; serves ``salt://`` to modules.
"""
