"""The console: web pages made from the answers of the HTTP API."""
