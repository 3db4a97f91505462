"""Stop 6. The text of a file in; data that knows which line it came from out.

Takes a ``SlsSource`` from ``sources``, gives a ``Document`` to ``compiler``. No other package knows
that Jinja and YAML exist.
"""
