"""The reactor of a controller: reads events by a durable cursor, and carries out their reactions."""
