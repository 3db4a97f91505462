"""Stop 5. Finds a file in the roots by its name, and reads its text.

Takes a ``SlsRef`` from ``compiler``, and gives a ``SlsSource`` to ``render``; provides ``salt://`` for
modules.
"""
