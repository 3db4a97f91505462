"""Stop 1. ``argv`` in; an exit code out. One file for each command."""
