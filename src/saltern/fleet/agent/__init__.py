"""The agent: takes jobs from its fleet, runs each in a process of its own, and returns results."""
