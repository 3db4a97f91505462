"""The HTTP API of a controller, for people and programs: one table of routes, and all that is made from it."""
