"""pip, and the words of its states and functions."""
