"""Targets and calls of other systems, for the states of orchestrations."""
