"""Calls of functions on systems of the fleet by programs: sent once, followed to their end."""
