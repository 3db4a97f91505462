"""Roots that are git repositories, read with the system's git."""
