"""Action chains across systems: the model, and the pure decisions of a controller about one run."""
