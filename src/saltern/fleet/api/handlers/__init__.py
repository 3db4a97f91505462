"""What each route does: one function each, from a call to an answer."""
