"""The programs on the remote side of a channel."""
