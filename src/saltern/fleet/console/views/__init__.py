"""What each page shows: asked of the API, put in order for a template."""
