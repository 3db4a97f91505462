"""Database servers, for their state modules and execution modules."""
