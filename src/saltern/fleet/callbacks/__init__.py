"""Notifications about chains: what is worth one, who wants it, and how it is sent."""
