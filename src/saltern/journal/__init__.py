"""Stop 10 of the walk: what a run does, safe on disk before the next step; and a broken run, read back."""
