"""Files: the sources of their content, and how they are compared, edited and written."""
