"""The HTTP API of a controller, for people and programs: one table of routes, and what is made from it."""
