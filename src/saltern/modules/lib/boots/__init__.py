"""Boots of this machine: whether one is due, and whether it is well after one."""
