"""Which machine is meant: targets, and what a top file gives to one machine."""
