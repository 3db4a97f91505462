"""The client of a controller's HTTP API, with the standard library alone: ``client.Client``."""
