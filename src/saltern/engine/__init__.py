"""The spine: one function for each thing a user asks for, and the session that holds the parts of one run."""
