"""LVM as its own tools report it: physical volumes, volume groups, logical volumes."""
