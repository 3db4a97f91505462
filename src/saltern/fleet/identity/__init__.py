"""Who is who: keys of agents, join tokens, enrolment, credentials and their end."""
