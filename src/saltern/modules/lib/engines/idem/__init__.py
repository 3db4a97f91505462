"""Idem: its command line, with plugins of ours beside its own; each of its states is a step."""
