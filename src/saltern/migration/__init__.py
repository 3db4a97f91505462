"""From Salt: its compilation beside ours, and its configuration made into that of a fleet."""
