"""One function for each request of a user, and the session with the parts of one run."""
