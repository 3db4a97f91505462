"""The data of each page: read from the API, and arranged for a template."""
