"""The console: pages for people, made of what the HTTP API answers."""
