"""Database servers: what their state modules and their execution modules share."""
