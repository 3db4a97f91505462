"""Beacons: what an agent watches on its machine and reports as events."""
