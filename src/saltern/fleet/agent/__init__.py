"""The agent: takes jobs from its fleet, has them worked on by processes of their own, and returns results."""
