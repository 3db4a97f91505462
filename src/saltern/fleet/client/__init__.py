"""The client of a controller's HTTP API, using only the standard library: ``client.Client``."""
