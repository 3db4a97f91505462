"""The handlers: one function for each route, from a call to an answer."""
