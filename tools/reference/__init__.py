"""The pages of docs/reference, generated from the tables in the code."""
