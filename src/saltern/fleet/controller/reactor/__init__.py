"""The reactor of a controller: reads events by a durable cursor, and has done what follows from them."""
