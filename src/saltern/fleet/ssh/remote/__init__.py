"""What runs on the other side of a channel."""
