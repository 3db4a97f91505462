"""Plugins of Idem: a progress bar and an output that tell results."""
