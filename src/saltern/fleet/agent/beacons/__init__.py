"""Beacons: what an agent looks at on its machine, and reports as events."""
