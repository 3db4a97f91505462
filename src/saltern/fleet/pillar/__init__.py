"""Pillar for each system: compiled on the controller from its facts, and sealed to its key."""
