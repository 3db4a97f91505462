"""Plugins of Idem: a progress bar and an output that report results."""
