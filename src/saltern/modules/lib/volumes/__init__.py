"""LVM, through its own tools: physical volumes, volume groups, logical volumes."""
