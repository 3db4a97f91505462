"""Boots of this machine: whether one is due, and whether the machine is healthy after one."""
