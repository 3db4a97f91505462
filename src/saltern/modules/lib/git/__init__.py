"""git's working copies: found, cloned and updated."""
