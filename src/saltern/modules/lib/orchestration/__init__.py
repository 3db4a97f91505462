"""What the states of orchestrations share: targets, calls of other systems, and what came of them."""
