"""Targets of machines, and what a top file assigns to one machine."""
