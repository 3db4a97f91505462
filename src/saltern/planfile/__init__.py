"""Plans that are kept: a test run written down, approved by a person, and applied as it was approved."""
