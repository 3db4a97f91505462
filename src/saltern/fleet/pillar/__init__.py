"""Pillar for each system: compiled on the controller from its facts, sealed to its key, opened by its agent."""
