"""Files: where their content comes from, how they are compared, edited and written."""
