"""Stop 10 of the walk: record what a run does, on disk before its next step, and read a broken run back."""
