"""What the states that drive other engines share: reading their steps, running them, keeping their log."""
