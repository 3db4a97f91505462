"""The controller's database, the one truth of a fleet: systems, jobs, what came of them, who did what."""
