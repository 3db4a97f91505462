"""pip, for its states and functions."""
