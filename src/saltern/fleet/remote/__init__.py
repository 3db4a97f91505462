"""Calls of functions on systems of the fleet, made by programs: sent once, heard to their end."""
