"""The controller's database, the authoritative state of a fleet: systems, jobs, their results, who
did what.
"""
