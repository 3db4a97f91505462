"""Identity: keys of agents, join tokens, enrolment, credentials and their revocation."""
